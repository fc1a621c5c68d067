"""One typeface and one table of colours, in plots, panels, plates, pages and on the stage."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text

import nhlab as nh
from nhlab.browser.book import colours
from nhlab.course import colours as lessons
from nhlab.course import figures, pictures
from nhlab.view import plot
from nhlab.view.labels import end_of, places_apart
from nhlab.view.typeface import STYLE

SITE = Path(figures.__file__).parent / "site"
PAIRS = {name: pair[:2] for name, pair in (plot.LOOKS | plot.INKS).items()}
# Each as what it stands on where the page is light and where it is dark.
PAPERS = {"JupyterLab": ("#FFFFFF", "#111111"), "site": ("#FBFAF8", "#12151B")}


def luminance(colour):
    """Relative, as WCAG 2 has it."""
    x = np.array(to_rgb(colour))
    linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def filtered(colour):
    """What ``plot.DARK`` makes of a colour: as CSS defines invert and hue-rotate."""
    share = float(re.search(r"invert\(([\d.]+)\)", plot.DARK)[1])
    angle = np.radians(float(re.search(r"hue-rotate\((\d+)deg\)", plot.DARK)[1]))
    grey = np.array([[0.213, 0.715, 0.072]] * 3)
    turned = np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
    turn = grey + np.cos(angle) * (np.eye(3) - grey) + np.sin(angle) * turned
    inverted = np.array(to_rgb(colour)) * (1 - 2 * share) + share
    return to_hex(np.clip(turn @ inverted, 0, 1))


def lab(colour):
    """Lightness and two differences of colours, in which equal distances look alike."""
    x = np.array(to_rgb(colour))
    linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    f = np.cbrt(np.array(to_xyz) @ linear / [0.9505, 1, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# ---------------------------------------------------------------------------- colours


@pytest.mark.parametrize("name", PAIRS)
def test_a_colour_is_read_on_white_and_on_dark(name):
    """As text, 4.5, wherever it is a method's; pale inks are for lines that help the eye."""
    least = {"pale": 2.5, "faint": 1.7}.get(name, 4.5)
    light, dark = PAIRS[name]
    for white, black in PAPERS.values():
        assert contrast(light, white) > least and contrast(dark, black) > least
        assert contrast(filtered(light), filtered(white)) > least


@pytest.mark.parametrize("name", PAIRS)
def test_a_picture_in_the_dark_has_the_colours_of_a_page_in_the_dark(name):
    """Distances of 2 are seen side by side, of 10 at a glance; 14 is that of EDLA's two greens."""
    light, dark = PAIRS[name]
    assert np.linalg.norm(lab(filtered(light)) - lab(dark)) < 14


def test_the_paper_of_a_picture_in_the_dark_is_that_of_the_page():
    """No box is seen: the background hardly differs from what is around it."""
    for white, black in PAPERS.values():
        assert contrast(filtered(white), black) < 1.05
    assert np.linalg.norm(lab(filtered("#FFFFFF")) - lab(lessons.DARK)) > 10  # it could be seen


def test_methods_are_told_apart():
    lights = [light for light, *_ in plot.LOOKS.values()]
    lines = [line for *_, line in plot.LOOKS.values()]
    for k, one in enumerate(lights):
        for j, other in enumerate(lights[:k]):
            far = np.linalg.norm(lab(one) - lab(other))
            assert far > 20 or lines[k] != lines[j], (k, j, far)


def test_every_renderer_reads_the_table():
    """Curve, name and bar of a panel, a page's curve, the site's letters, lessons' short names."""
    panel = nh.paper_figure("cm01_fig1")
    for name, method in panel.figure.setting.methods.items():
        light, dark = PAIRS[type(method).__name__]
        (curve,) = {x.look["color"] for x in panel.sheet.shapes if x.name == name}
        assert curve == light == panel.sheet.names._parts[name][0].get_color()
        assert colours(plot.look(method)) == [light, dark]
        assert method.is_reference or f"--light:{light};--dark:{dark}" in panel.readout.value
    css = (SITE / "start.css").read_text()
    for word, method in (("dla", "DLA"), ("rk4", "RK4"), ("true", "Reference")):
        assert re.findall(rf"--{word}: (#\w+)", css) == [x.lower() for x in PAIRS[method]]
    assert lessons.BLUE == PAIRS["DLA"][0] and lessons.ORANGE == PAIRS["orange"][0]
    drawn = [x.look["color"] for s in ("fim08_fig1", "fim08_fig3", "fim08_fig4")
             for x in nh.paper_figure(s).sheet.shapes]  # fmt: skip
    assert {*drawn} <= {*plot.BRIGHT}


def test_all_that_darkens_pictures_does_it_alike():
    """JupyterLab's output and the two style sheets of the site."""
    rule = re.search(r"filter: ([^}]*)}", plot.DARK)[1]
    sheets = [(SITE / name).read_text() for name in ("site.css", "start.css")]
    found = [re.findall(r"filter: (invert[^;}]*)", text) for text in sheets]
    assert found[0], "the lessons of the site show pictures that need it; the first page has none"
    assert {x.strip() for each in found for x in each} == {rule.strip()}


# ---------------------------------------------------------------------------- the typeface


def typefaces(figure):
    """The typefaces of words and of mathematics in a figure that was drawn."""
    figure.draw_without_rendering()
    texts = [x for x in figure.findobj(Text) if x.get_text()]
    assert len(texts) > 3
    return {(x.get_fontfamily()[0], x.get_math_fontfamily()) for x in texts}


SET = {(STYLE["font.family"][0], STYLE["mathtext.fontset"])}


@pytest.mark.parametrize("name", figures.STATEMENTS)
def test_panels_and_plates_are_set_in_one_typeface(name):
    panel = nh.paper_figure(name)
    for k in range(2):
        if "view" in panel.controls and k:
            panel.set(view=panel.controls["view"].options[-1])
        texts = [x for x in panel.picture.figure.findobj(Text) if x.get_text()]
        assert {(x.get_fontfamily()[0], x.get_math_fontfamily()) for x in texts} == SET


def test_what_is_written_later_is_set_in_the_same_typeface():
    """Legend, title, a note and a ten at the axis, by somebody who knows matplotlib alone."""
    run = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=20)
    ax = nh.plot.energy(run)
    ax.set_title("title with $x^2$")
    ax.legend(["curve"], title="methods")
    ax.text(1, 2.5, r"a note on $\alpha$")
    ax.set_yscale("log")
    assert typefaces(ax.figure) == SET
    fig, axes = nh.plot.new(1, 2)
    for draw, ax in zip((pictures.slots, pictures.kick), axes, strict=True):
        draw(ax)
    assert typefaces(fig) == SET


def test_a_typeface_that_was_asked_for_stays():
    fig, ax = nh.plot.new()
    text = ax.text(0, 0, "code", family="monospace", fontsize=9)
    fig.draw_without_rendering()
    assert text.get_fontfamily() == ["monospace"] and text.get_fontsize() == 9


def test_letters_do_not_grow_with_each_drawing():
    fig, ax = nh.plot.new()
    text = ax.text(0, 0, "words", fontsize=10)
    sizes = [(fig.draw_without_rendering(), text.get_fontsize())[1] for _ in range(3)]
    assert sizes[0] > 10 and len({*sizes}) == 1


def test_no_number_at_the_end_of_an_axis_is_cut():
    """Also of a single curve, which has no name beside it: at alpha = .8 the axis ends with 6."""
    options = {"h": (0.05, 0.15, 0.1), "T": 50, "alpha": (0.2, 0.8, 0.3)}
    panel = nh.explore(nh.systems.particle(), [nh.DLA()], **options)
    panel.set(alpha=0.8)
    (ax,), height = panel.picture.axes, panel.picture.size[1]
    ticks = [x.label1.get_window_extent() for x in ax.yaxis.get_major_ticks()]
    shown = [box for box in ticks if box.y0 < ax.bbox.y1 + box.height / 2]
    assert ax.get_ylim()[1] in ax.get_yticks() and max(box.y1 for box in shown) < height


# ---------------------------------------------------------------------------- names at the ends


def test_a_name_stands_at_the_end_of_a_curve_or_in_the_middle_of_its_swings():
    t = np.linspace(0, 100, 2001)
    assert end_of(t**2) == 100**2
    assert abs(end_of(3 + np.sin(7 * t))) == pytest.approx(3, abs=0.05)
    assert end_of(t + np.sin(t)) == t[-1] + np.sin(t[-1])  # a wave that gets somewhere
    assert end_of(np.array([2.0])) == 2.0


@pytest.mark.parametrize("seed", range(20))
def test_names_keep_apart_inside_and_in_order_and_move_little(seed):
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 7)
    wanted, sizes = rng.uniform(0, 1, count).round(2), rng.uniform(0.04, 0.12, count)
    found = places_apart([*wanted], sizes)
    order = np.argsort(found)
    ends = np.stack([found - sizes / 2, found + sizes / 2], -1)[order]
    assert ends.min() > -1e-12 and ends.max() < 1 + 1e-12
    assert (ends[1:, 0] - ends[:-1, 1] > -1e-12).all()
    apart = np.abs(np.subtract.outer(wanted, wanted))
    for k, j in np.argwhere(apart > sizes.min()):
        assert (wanted[k] < wanted[j]) == (found[k] < found[j])
    if (np.diff(np.sort(wanted)) > sizes.max()).all():  # they do not meet
        inside = np.clip(wanted, sizes / 2, 1 - sizes / 2)
        np.testing.assert_allclose(found, inside, atol=1e-12)


def test_names_of_curves_that_cannot_be_told_apart_keep_their_order():
    """Rounding would exchange them at every step of a slider."""
    sizes = np.array([0.05, 0.05])
    for noise in (1e-14, -1e-14):
        first, second = places_apart([0.5, 0.5 + noise], sizes)
        assert first < second
