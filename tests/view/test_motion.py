"""Stages that follow sliders: in a panel the new scene is sent to the player, on a page the runs
are computed there; the bodies are where the library's runs have them."""

import base64
import gzip
import itertools
import json
import re
import struct

import numpy as np
import pytest
from chromium import SOFTWARE, chromium

import nhlab as nh
from nhlab.view.body import between
from nhlab.view.motion import for_page

STAGE = "document.querySelector('.nhlab-stage').stage"
# In a page of Bokeh the stage stands in a shadow tree.
IN_PAGE = "Bokeh.index.find_one(nhlab_pages[0].stage).shadow_el.querySelector('.nhlab-stage').stage"


@pytest.fixture(scope="module")
def browser():
    with chromium(*SOFTWARE) as found:
        yield found


def motion(**options):
    s = nh.systems.sleigh()
    given = {"T": 6, "h": 0.1, "u": (-2.0, 2.0, -1.0), "a": (0.1, 0.5, 0.2)} | options
    return nh.motion_panel(s, None, lambda z: ([0, 0, 0], [z["u"], 0, 0.3]), "energy", **given)


def run_of(values):
    s = nh.systems.sleigh(a=values["a"])
    return nh.integrate(s, nh.DLA(), [0, 0, 0], [values["u"], 0, 0.3], h=0.1, steps=60)


def letter(panel):
    """The letter to the player that the last setting has sent."""
    return panel.picture.box.children[1].value


def head_of(text):
    """The JSON of a scene that was sent."""
    data = gzip.decompress(base64.b64decode(text))
    (length,) = struct.unpack("<I", data[:4])
    return json.loads(data[4 : 4 + length])


def test_a_motion_panel_shows_what_its_sliders_say():
    p = motion()
    assert letter(p) == ""  # the first motion is in the output itself
    for values in ({}, {"u": 1.5}, {"a": 0.4}):
        p.set(**values)
        sol, (actor,) = run_of(p.values), p.stage.scene.actors
        t = np.linspace(0, 6, 23)
        np.testing.assert_allclose(actor.centre(t)[:, :2], between(sol, t)[:, :2], atol=1e-12)
        np.testing.assert_array_equal(actor.reading[1], sol.energy())
        (sent,) = re.findall(r"text = '(.*?)'", letter(p))
        assert head_of(sent)["actors"][0]["columns"]["x"][0] == 0 and sent == p.stage.packed
        assert f"{np.ptp(sol.energy()):.1e}" in p.readout.value and p.message.value == ""
        assert "<img" not in p.shown.value  # no picture is drawn beside the stage
    bundle = p._repr_mimebundle_()
    assert "DecompressionStream" in bundle["text/html"]  # it plays without a kernel
    assert len(base64.b64decode(bundle["image/png"])) < 60_000


def test_every_corner_of_a_motion_panel_is_played_and_errors_are_said():
    p = motion()
    ends = {k: (c.min, c.max) for k, c in p.controls.items()}
    for point in itertools.product(*ends.values()):
        p.set(**dict(zip(ends, point, strict=True)))
        assert p.message.value == "" and letter(p)
    p.reset()
    assert p.values == {"u": -1.0, "a": 0.2}

    def start(z):
        raise ValueError(f"no start for {z['u']}")

    broken = nh.motion_panel(nh.systems.sleigh(), None, start, T=1, h=0.1, u=(0.0, 1.0, 0.5))
    assert "no start for 0.5" in broken.message.value


@pytest.mark.parametrize("wrong", [{"u": 3}, {"u": [1.0, 2.0, 3.0]}, {"t": (0.0, 1.0, 0.5)}])
def test_wrong_sliders_of_a_motion_panel_are_named(wrong):
    with pytest.raises(ValueError, match=r"is no slider \(low, high, value\)"):
        motion(**wrong)


def test_a_panel_with_a_stage_is_stored_with_its_motion():
    snakeboard, start = nh.systems.snakeboard(), [("vphi", 0.0, 1.0)]
    p = nh.explore(snakeboard, nh.DLA(), T=6, h=0.1, start=start, motion=True)
    p.set(**{"v0.vphi": 0.9})
    bundle = p._repr_mimebundle_()
    assert bundle["text/html"].count("DecompressionStream") == 1
    assert p.screen.stage.packed in bundle["text/html"]  # as the slider stands
    plain = nh.explore(snakeboard, nh.DLA(), T=6, h=0.1, start=start)
    assert "DecompressionStream" not in plain._repr_mimebundle_()["text/html"]


def test_steps_that_no_slider_changes():
    sleigh = nh.systems.sleigh()
    p = nh.explore(sleigh, nh.DLA(), T=2, h=0.1, start=[("vx", -2.0, 2.0, 0.5)])
    assert [*p.controls] == ["v0.vx"] and p.controls["v0.vx"].step == 0.5
    sol = nh.integrate(sleigh, nh.DLA(), h=0.1, steps=20)
    assert f"{np.ptp(sol.energy()):.3g}" in p.readout.value
    for wrong in (0, -0.1, np.inf):
        with pytest.raises(ValueError, match=r"h = .* must be a positive number or \(low, high, "):
            nh.explore(sleigh, nh.DLA(), h=wrong)


def test_the_body_of_a_panel_of_one_s_own():
    boat = lambda q: [nh.bodies.place([[-0.4, -0.2], [0.6, 0], [-0.4, 0.2]], q[2], q[:2])]  # noqa: E731
    p = nh.explore(nh.systems.sleigh(), nh.DLA(), T=2, h=0.1, motion=True, body=boat)
    assert np.ptp(p.screen.stage.scene.actors[0].corners(0.0), 0)[0] == pytest.approx(1.0, abs=0.05)


def open_page(browser, file):
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.said = []
    page.on("console", lambda m: page.said.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: page.said.append(str(e)))
    page.goto(file.as_uri())
    return page


def rests(page, stage):
    """Stop the stage and wait until it has drawn what it was asked for.  A motion that begins by
    itself would take a frame for each tenth of a second, which is minutes without a graphics card.
    """
    page.wait_for_function(
        f"(() => {{ try {{ {stage}.play(false); return true; }} catch {{ return false; }} }})()",
        timeout=60_000,
    )
    js = f"(() => {{ try {{ const s = {stage}; return s && s.stats.frames > 0 && !s.asked; }}"
    page.wait_for_function(js + " catch { return false; } })()", timeout=60_000)


def test_a_letter_reaches_the_stage_where_it_stands(browser, tmp_path):
    """As in a notebook: the HTML of a widget is put in by innerHTML, where no script runs."""
    p = motion()
    first, _ = (child.value for child in p.picture.box.children)
    p.set(u=2.0, a=0.5)
    page_text = json.dumps({"first": first, "letter": letter(p)}).replace("<", "\\u003c")
    (tmp_path / "page.html").write_text(f"""<!doctype html><meta charset=utf-8>
        <div class="nhlab-screen"><div id="first"></div><div id="letter"></div></div>
        <script>const text = {page_text};
        document.getElementById("first").innerHTML = text.first;</script>""")
    page = open_page(browser, tmp_path / "page.html")
    try:
        rests(page, STAGE)
        page.evaluate(f"{STAGE}.root.marked = true; {STAGE}.seek(3)")
        page.evaluate("document.getElementById('letter').innerHTML = text.letter")
        sol = run_of(p.values)
        off = f"Math.abs({STAGE}.actors[0].columns.x.at(-1) - {sol.q[-1, 0]})"
        page.wait_for_function(f"{off} < 1e-6", timeout=60_000)
        rests(page, STAGE)
        stands = page.evaluate(f"[{STAGE}.t, {STAGE}.root.marked, {STAGE}.poster]")
        assert stands == [3, True, False]
        here = page.evaluate(f"[...{STAGE}.actors[0].frames.slice(28, 30)]")  # of the first frame
        np.testing.assert_allclose(here, between(sol, 3.0)[:2], atol=1e-6)
        assert page.said == []
    finally:
        page.close()


def test_a_page_moves_the_bodies_by_runs_that_it_computes(browser, tmp_path):
    snakeboard = nh.systems.snakeboard()
    look = {"T": 6, "h": (0.05, 0.4, 0.3), "start": [("vphi", 0.0, 1.0)], "motion": ["rk4", "dla"]}
    panel = nh.explore(snakeboard, [nh.DLA(), nh.RK4()], "energy", **look)
    page = open_page(browser, nh.live(panel, tmp_path / "page.html"))
    try:
        rests(page, IN_PAGE)
        page.evaluate("nhlab_pages[0].set({h: 0.1, 'v0.vphi': 0.9})")
        page.wait_for_function(f"{IN_PAGE}.actors[0].t.length === 61", timeout=60_000)
        page.evaluate(f"{IN_PAGE}.seek(4)")
        rests(page, IN_PAGE)
        start = {"v0": [*snakeboard.v0[:4], 0.9]}
        for k, method in enumerate((nh.RK4(), nh.DLA())):
            sol = nh.integrate(snakeboard, method, **start, h=0.1, steps=60, progress=False)
            found = page.evaluate(f"[...{IN_PAGE}.actors[{k}].columns.theta]")
            np.testing.assert_allclose(found, sol.q[:, 2], atol=1e-9)
            wheel = page.evaluate(f"{IN_PAGE}.actors[{k}].columns['front left'].at(-1)")
            body = nh.animate(sol).scene.actors[0]
            assert wheel == pytest.approx(body.columns["front left"][-1], rel=1e-3)
            board = page.evaluate(f"[...{IN_PAGE}.actors[{k}].frames.slice(28, 30)]")
            np.testing.assert_allclose(board, between(sol, 4.0)[:2], atol=1e-6)
        assert page.said == []
    finally:
        page.close()


def test_what_a_page_cannot_move_is_refused_with_the_reason():
    kepler = nh.integrate(nh.systems.kepler(), nh.DLA(), h=0.1, steps=20)
    with pytest.raises(ValueError, match="a page cannot move this body by itself: A planet"):
        for_page(nh.animate(kepler), ["dla"])
    robot = nh.systems.robot()
    with pytest.raises(ValueError, match=r"motion: 'rk4' is none of the methods; .*\['dla'\]"):
        nh.explore(robot, nh.DLA(), motion=["rk4"])
    with pytest.raises(ValueError, match="motion needs one system"):
        nh.explore([robot, nh.systems.sleigh()], nh.DLA(), motion=True)
    data = for_page(nh.animate(nh.integrate(robot, nh.DLA(), h=0.1, steps=20)), ["dla"])
    assert data["runs"] == ["dla"] and data["names"] == [["x", "y", "theta", "psi"]]
