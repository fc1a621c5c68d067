"""Stages in a browser: they play, listen to the keyboard, follow the theme, free what they used,
and where they cannot play the still stays with a sentence.

Software WebGL is slow, so that few frames are drawn; skipped without Playwright or a Chromium.
"""

import gzip
import io
from dataclasses import replace

import numpy as np
import pytest
from chromium import SOFTWARE, chromium
from PIL import Image
from scipy.ndimage import binary_dilation

import nhlab as nh
from nhlab.view import player, still
from nhlab.view.player import KEY, Stage
from nhlab.view.stage import Floor

STAGE = "document.querySelector('.nhlab-stage').stage"


@pytest.fixture(scope="module")
def browser():
    with chromium(*SOFTWARE) as found:
        yield found


@pytest.fixture(scope="module")
def film():
    sol = nh.integrate(nh.systems.snakeboard(), nh.DLA(), h=0.5, steps=40)
    return nh.animate(sol, exact=True, below=("angle", lambda s: s.q[:, 4]), caption="Gliding.")


@pytest.fixture(scope="module")
def folder(film, tmp_path_factory):
    home = tmp_path_factory.mktemp("pages")
    film.save(home / "film.html")
    return home


class Page:
    """A page with its messages and requests."""

    def __init__(self, browser, file, script=None, **options):
        self.page = browser.new_page(viewport={"width": 900, "height": 700}, **options)
        if script:
            self.page.add_init_script(script)
        self.said, self.asked = [], []
        self.page.on("console", lambda m: self.said.append(m.text))
        self.page.on("pageerror", lambda e: self.said.append(str(e)))
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.goto(file.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.page.close()

    def ask(self, what):
        return self.page.evaluate(what)

    def stage(self, what):
        return self.page.evaluate(f"{STAGE}.{what}")

    def wait(self, what):
        self.page.wait_for_function(what, timeout=60_000)

    def drawn(self):
        self.wait(f"{STAGE} && {STAGE}.stats.frames > 0 && !{STAGE}.asked")

    def fresh(self, change):
        """Do something that must lead to a new frame, and wait for it."""
        before = self.stage("stats.frames")
        change()
        self.wait(f"{STAGE}.stats.frames > {before} && !{STAGE}.asked")

    def pixels(self):
        canvas = self.page.locator(".nhs .panes canvas").first
        return np.asarray(Image.open(io.BytesIO(canvas.screenshot())).convert("RGB"), float)


def test_a_saved_page_plays_by_keyboard_without_errors_and_without_a_network(browser, folder):
    with Page(browser, folder / "film.html") as p:
        p.drawn()
        still_frames = p.stage("stats.frames")
        p.page.wait_for_timeout(400)
        assert p.stage("stats.frames") == still_frames  # nothing changes, nothing is drawn
        canvas = p.page.locator(".nhs .panes canvas").first
        canvas.focus()
        outline = "e => getComputedStyle(e).outlineStyle"
        assert (
            canvas.evaluate("e => e.matches(':focus-visible')")
            and canvas.evaluate(outline) == "solid"
        )
        p.fresh(lambda: p.page.keyboard.press("Home"))
        assert p.stage("t") == 0
        p.fresh(lambda: p.page.keyboard.press("."))
        assert p.stage("t") == pytest.approx(0.2)
        turned = p.stage("turn")
        p.fresh(lambda: p.page.keyboard.press("ArrowLeft"))
        assert p.stage("turn")[0] < turned[0]
        p.page.keyboard.press(" ")
        p.wait(f"{STAGE}.t > 0.3")
        p.page.keyboard.press(" ")
        assert p.stage("playing") is False
        p.fresh(lambda: p.page.keyboard.press("End"))
        assert p.stage("t") == pytest.approx(20)
        assert p.said == []
        outside = [url for url in p.asked if not url.startswith(("data:", "blob:", "file:"))]
        assert outside == [] and len([u for u in p.asked if u.startswith("file:")]) == 1


def drag(page, *fingers, steps=6):
    """Move fingers over the glass, each from (x, y) to (x, y)."""
    glass = page.context.new_cdp_session(page)

    def touch(kind, part):
        at = [{"x": a + part * (c - a), "y": b + part * (d - b), "id": k}
              for k, ((a, b), (c, d)) in enumerate(fingers)]  # fmt: skip
        glass.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    touch("touchStart", 0)
    for k in range(1, steps + 1):
        touch("touchMove", k / steps)
    glass.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_fingers_turn_the_view_zoom_scrub_and_scroll(browser, folder, film):
    (folder / "tall.html").write_text(f"<!doctype html><meta charset=utf-8>{film.html()}"
                                      "<div style='height:2000px'></div>")  # fmt: skip
    with Page(browser, folder / "tall.html", has_touch=True) as p:
        p.drawn()
        p.page.get_by_role("button", name="Play").tap()
        p.wait(f"{STAGE}.playing")
        p.page.get_by_role("button", name="Pause").tap()
        box = p.page.locator(".nhs .panes canvas").first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        drag(p.page, ((x, y), (x - 100, y)))
        p.wait(f"{STAGE}.turn[0] > 0.3")
        drag(p.page, ((x - 40, y), (x - 120, y)), ((x + 40, y), (x + 120, y)))
        p.wait(f"{STAGE}.zoom < 0.6")
        turned = p.stage("turn")
        slider = p.page.locator(".nhs .bar input").bounding_box()
        middle = slider["y"] + slider["height"] / 2
        p.page.touchscreen.tap(slider["x"] + 0.75 * slider["width"], middle)
        p.wait(f"Math.abs({STAGE}.t - 15) < 1")
        drag(p.page, ((x, y), (x, y - 200)))  # the page is not caught
        p.wait("window.scrollY > 50")
        assert p.stage("turn")[0] == turned[0] and p.said == []


def test_it_stops_by_itself_at_the_end_and_begins_anew(browser, folder):
    with Page(browser, folder / "film.html") as p:
        p.drawn()
        assert p.stage("poster") is True and p.stage("t") == pytest.approx(p.stage("head.moment"))
        p.ask(f"() => {{ const s = {STAGE}; s.seek(19.9); s.play(true); }}")
        p.wait(f"!{STAGE}.playing")
        assert p.stage("t") == pytest.approx(20)
        p.ask(f"() => {STAGE}.play(true)")
        assert p.stage("t") < 1


def test_controls_are_large_enough_and_named(browser, folder, film):
    with Page(browser, folder / "film.html") as p:
        p.drawn()
        small = p.ask("""() => [...document.querySelectorAll(
                '.nhs button, .nhs select, .nhs label, .nhs input[type=range]')]
            .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
            .filter(([, r]) => r.width < 24 || r.height < 24).map(x => x[0])""")
        assert small == []
        for role in ("button", "slider", "combobox", "checkbox"):
            for e in p.page.get_by_role(role).all():
                assert e.evaluate(
                    "e => (e.ariaLabel || e.textContent || e.labels?.[0]?.textContent || '').trim()"
                )
        label = p.page.locator(".nhs .panes canvas").first.get_attribute("aria-label")
        assert film.alt in label and "Space plays" in label
        marked = p.ask("""() => [...document.querySelectorAll(
                '.nhs canvas, .nhs button, .nhs input, .nhs select')]
            .every(e => e.hasAttribute('data-lm-suppress-shortcuts'))""")
        assert marked


CUT = """() => [...document.querySelectorAll('.nhs .bar > *')].filter(e => {
    const {left, right} = e.getBoundingClientRect(), bar = e.parentElement.getBoundingClientRect();
    const words = e.cloneNode(true);  // as wide as they want to be
    words.style.cssText = 'position: absolute; flex: none; width: max-content; min-width: 0';
    e.parentElement.append(words);
    const wanted = words.getBoundingClientRect().width;
    words.remove();
    return left < bar.left || right > bar.right
        || (e.type !== 'range' && right - left < wanted - 1);
}).map(e => e.outerHTML.slice(0, 60))"""


def test_no_word_of_the_bar_is_cut_on_a_phone_or_in_half_a_page(browser, folder):
    """The control is a bar whose parts are pressed together."""
    with Page(browser, folder / "film.html") as p:
        p.drawn()
        assert p.ask("document.querySelectorAll('.nhs .bar > *').length") >= 5
        for width in (320, 390, 432, 900):
            p.page.set_viewport_size({"width": width, "height": 700})
            assert p.ask(CUT) == [], width
        p.page.set_viewport_size({"width": 320, "height": 700})
        p.page.add_style_tag(content=".nhs .bar {flex-wrap: nowrap} .nhs .bar > * {flex: 1}")
        assert p.ask(CUT)


def test_the_theme_is_followed_while_it_changes(browser, folder):
    with Page(browser, folder / "film.html") as p:
        p.drawn()
        light = p.pixels().mean()
        for attribute in ("document.documentElement.dataset.theme = 'dark'",
                          "document.documentElement.dataset.theme = 'light'",
                          "document.body.dataset.jpThemeLight = 'false'"):  # fmt: skip
            p.fresh(lambda a=attribute: p.ask(f"() => {{ {a}; }}"))
            dark = "dark" in attribute or "false" in attribute
            assert (p.pixels().mean() < 0.5 * light) == dark


BARE = f"""() => {{ const s = {STAGE};
    for (const p of s.panes) {{ p.earlier = []; p.floor = 'none'; }}
    for (const a of s.actors) {{ a.lines = []; a.show = !a.ghost; }}
    s.change(); }}"""


def test_player_and_still_show_the_same_outlines(browser, folder, film):
    """The body alone in one dark colour, without floor, shadow and trail."""
    sol = nh.integrate(nh.systems.snakeboard(), nh.DLA(), h=0.5, steps=40)
    dark = {"colour": "#404040", "second": "#404040", "gloss": 0.0}
    body = film.scene.main(0).model
    parts = [(frame, shape | dark) for frame, shape in body.parts]
    film = nh.animate(sol, body=replace(body, parts=parts))
    film.save(folder / "dark.html")
    with Page(browser, folder / "dark.html") as p:
        p.drawn()
        p.fresh(lambda: p.ask(BARE))
        played = p.pixels()[40:]  # below the names
    height, width, _ = played.shape
    scene, t = film.scene, film.scene.moment
    pane = still.Pane(scene, 0, t, scene.poster(0, t), width, height + 40)
    pane.cast, pane.floor, pane._trails = [pane.main], Floor("none"), lambda: None
    stood = 255 * pane.draw([])[40:]
    masks = [np.abs(x - x[-1, 0]).max(-1) > 12 for x in (played, stood)]
    assert min(m.sum() for m in masks) > 8000
    for a, b in (masks, masks[::-1]):  # nothing farther than a pixel from the other
        assert (a & ~binary_dilation(b, np.ones((3, 3)))).sum() < 0.004 * a.sum()
    for axis in (0, 1):
        ends = [np.flatnonzero(m.any(axis))[[0, -1]] for m in masks]
        np.testing.assert_allclose(*ends, atol=1.5)
    where = masks[0] & masks[1]
    assert np.abs(played - stood)[where].mean() < 30  # and nearly the same light


def test_with_reduced_motion_the_still_stays_until_it_is_asked_for(browser, folder):
    with Page(browser, folder / "film.html", reduced_motion="reduce") as p:
        p.wait("document.querySelector('.nhs-note').textContent.includes('reduced motion')")
        assert p.ask(f"() => {STAGE} ?? null") is None
        assert p.page.locator(".nhlab-stage > img").is_visible()
        p.page.get_by_role("button", name="Show the player").click()
        p.drawn()
        assert not p.page.locator(".nhlab-stage > img").is_visible()
        assert p.said == []


NO_WEBGL = """const old = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...x) {
    return kind === 'webgl2' ? null : old.call(this, kind, ...x);
};"""


def test_without_webgl_the_still_stays_with_a_sentence(browser, folder):
    with Page(browser, folder / "film.html", script=NO_WEBGL) as p:
        p.wait("document.querySelector('.nhs-note').textContent.includes('WebGL 2')")
        assert p.page.locator(".nhlab-stage > img").is_visible()
        assert p.said == []


def test_a_lost_context_is_taken_up_again(browser, folder):
    with Page(browser, folder / "film.html") as p:
        p.drawn()
        before = p.pixels()
        p.ask(
            f"() => {{ const gl = {KEY}.shared.renderer.gl;"
            "window.lost = gl.getExtension('WEBGL_lose_context'); lost.loseContext(); }"
        )
        p.wait("document.querySelector('.nhs-note').textContent.includes('interrupted')")
        assert p.page.locator(".nhlab-stage > img").is_visible()
        p.ask("() => lost.restoreContext()")
        p.wait(f"!{STAGE}.blind && {STAGE}.gpu && !{STAGE}.asked")
        assert np.abs(p.pixels() - before).mean() < 1
        assert [x for x in p.said if "rror" in x] == []


def test_stages_share_one_context_which_goes_with_them(browser, folder, film):
    """Three outputs on a page, of which those out of sight hold nothing on the graphics card."""
    body = "".join(f"<div style='margin-bottom:60px'>{film.html()}</div>" for _ in range(3))
    (folder / "three.html").write_text(f"<!doctype html><meta charset=utf-8>{body}")
    with Page(browser, folder / "three.html") as p:
        p.drawn()
        p.ask("""() => { window.made = 0; const old = HTMLCanvasElement.prototype.getContext;
            HTMLCanvasElement.prototype.getContext = function (kind, ...x) {
                made += kind === 'webgl2';
                return old.call(this, kind, ...x);
            }; }""")
        held = "() => [...document.querySelectorAll('.nhlab-stage')].map(e => !!e.stage.gpu)"
        assert p.ask(held)[0] and not p.ask(held)[2]
        p.page.mouse.wheel(0, 1500)
        p.wait("document.querySelectorAll('.nhlab-stage')[2].stage.stats.frames > 0")
        p.wait("!document.querySelectorAll('.nhlab-stage')[0].stage.gpu")
        assert p.ask("() => made") == 0
        p.ask("() => document.querySelectorAll('.nhlab-stage').forEach(e => e.remove())")
        p.wait(f"{KEY}.shared.renderer === null && {KEY}.shared.stages.size === 0")
        assert [x for x in p.said if "rror" in x] == []


def test_rounding_is_drawn_as_a_flat_line_below_a_legend_on_a_ground(browser, folder):
    sol = nh.integrate(nh.systems.ball_right(), nh.DLA(), h=0.1, steps=40)
    nh.animate(sol, exact=True, below="energy").save(folder / "flat.html")
    with Page(browser, folder / "flat.html") as p:
        p.drawn()
        low, high = p.stage("span")
        assert low < 0.99 * sol.energy()[0] < 1.01 * sol.energy()[0] < high
        ground = "getComputedStyle(document.querySelector('.nhs .top label')).backgroundColor"
        assert "0.72" in p.ask(f"() => {ground}")  # bodies may stand behind it


def test_two_versions_live_on_one_page(browser, folder, film):
    """Another version has another global name, and each output is played by its own."""
    code = player.player().replace(KEY, "nhlab_stage_0")
    packed = player._text(gzip.compress(code.encode()))
    older = film.html().replace(player._player_text(), packed).replace(KEY, "nhlab_stage_0")
    (folder / "two.html").write_text(f"<!doctype html><meta charset=utf-8>{film.html()}{older}")
    with Page(browser, folder / "two.html") as p:
        p.wait("[...document.querySelectorAll('.nhlab-stage')].every(e => e.stage)")
        held = [p.ask(f"() => {key}.shared.stages.size") for key in (KEY, "nhlab_stage_0")]
        same = p.ask("() => new Set([...document.querySelectorAll('.nhlab-stage')]"
                     ".map(e => e.stage.constructor)).size")  # fmt: skip
        assert held[0] == 1 and same == 2 and p.said == []


def test_side_by_side_each_has_its_pane(browser, folder):
    robot = nh.systems.robot()
    runs = [nh.integrate(robot, m, h=0.5, steps=40) for m in (nh.DLA(), nh.RK4())]
    film = nh.animate(*runs, below="energy")
    assert isinstance(film, Stage)
    film.save(folder / "pair.html")
    with Page(browser, folder / "pair.html") as p:
        p.drawn()
        assert p.page.locator(".nhs .panes canvas").count() == 2
        assert p.said == []
        text = p.page.locator(".nhs .read").inner_text()
        t = p.stage("t")
        for sol, name in zip(runs, ("DLA", "RK4"), strict=True):
            assert f"{name}: {np.interp(t, sol.t, sol.energy()):.2f}" in text
