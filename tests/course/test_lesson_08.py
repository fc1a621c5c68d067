"""Lesson 08: what the table of choice says, and the reason it gives."""

import re

import numpy as np
import pytest
from lesson_cells import defined
from prose import prose

import nhlab as nh
from nhlab.course import comparison
from nhlab.course.lessons import lesson_08
from nhlab.course.predict import PREDICTIONS

SHOWN = defined("08b", "def settling_rate", "def by_rule", "def fastest_period")


def row(problem: str) -> list[str]:
    """The cells of the row of the table of choice that begins so."""
    (found,) = re.findall(
        rf"\| ({re.escape(problem)}[^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|", prose("08")
    )
    return [cell.strip() for cell in found]


def test_small_steps_are_counted_by_the_fastest_period():
    take = row("short run")[1]
    (steps,) = map(int, re.findall(r"RK4 with more than (\d+) steps in the shortest period", take))
    particle, robot = nh.systems.particle(), nh.systems.robot()
    periods = [SHOWN["fastest_period"](particle, [0, 0, 0])]
    periods.append(SHOWN["fastest_period"](robot, [0, 0, 0, -np.pi / 2]))
    assert periods == pytest.approx([2 * np.pi / np.sqrt(2), 2 * np.pi / np.sqrt(10 / 4)], rel=1e-6)
    for system, period in zip((particle, robot), periods, strict=True):
        assert SHOWN["steps_to_equal"](system, period) == pytest.approx(steps, abs=2)
    assert "0.14" not in take and "0.14" not in prose("08").split("## Summary")[1]
    not_even = r"on the contact oscillator not even if there are (\d+)"
    (worse,) = map(int, re.findall(not_even, prose("08")))
    contact, period = nh.systems.contact_oscillator(eps=0), 2 * np.pi
    assert SHOWN["fastest_period"](contact, [0, 0, 0]) == pytest.approx(period, rel=1e-6)
    assert SHOWN["energy_ratio"](contact, period / worse, 225 * period) > 5


def test_the_table_says_what_the_roller_racer_does_to_the_projector_method():
    racer = nh.systems.roller_racer()
    assert all(lesson_08.questions(racer).values())  # it belongs to the row
    end = nh.integrate(racer, nh.Reference(), h=15, steps=1).q[-1]
    sol = nh.integrate(racer, nh.Projector(), h=0.05, steps=300)
    assert np.ptp(sol.energy()) < 1e-12 and round(np.hypot(*(sol.q[-1] - end)[:2])) == 5
    *_, beware = row("reversible, $M$ constant, $V$ quadratic")
    assert "roller racer" in beware and "five metres" in beware


def test_an_energy_that_does_not_change_is_called_exact():
    assert "3. *exact*" in prose("08b") and "*none*" not in prose("08") + prose("08b")
    assert "exact" in SHOWN["VERDICTS"] and "none" not in SHOWN["VERDICTS"]


def test_the_reason_is_reversible_kam_theory():
    text = prose("08")
    assert "no preferred direction" not in text
    assert "reversible KAM theory" in text.split("## What protects the energy?")[1]
    assert "thirty errors from 0" in prose("08b")


def test_the_column_of_mirror_images_decides_where_dla_drifts():
    """Its own mirror image, and not chaotic: DLA is exact or bounded; without one it drifts."""
    data, round_ = comparison.load(), "transmission, eps=.2"
    kinds = dict(zip(data["problems"].tolist(), data["kind"][:, 0].tolist(), strict=True))
    assert data["methods"][0] == "DLA"
    for name in ("particle", "robot", "contact, N=40", "transmission, eps=0", round_):
        p = comparison.problems()[name]
        mirrored = comparison.mirror_gap(p.system, p.q0[4], p.v0[4], p.h) < 0.1
        assert mirrored == (name != round_) == (kinds[name] in ("exact", "bounded")), name
    swings = comparison.mirror_gap(p.system, p.q0[4], [0, 1.0, 0.3], p.h)
    assert (
        swings
        < 0.1
        < comparison.mirror_gap(
            nh.systems.nonreversible(), *map(np.array, ([0, 0, 0.1], [0, 1, 1])), 0.2
        )
    )


def test_the_projector_method_owes_its_result_on_the_transmission_to_linear_springs():
    assert all("linear spring" in prose(number) for number in ("02", "08", "11"))
    assert "linear springs" in row("no mirror image, linear springs")[0]


def test_smaller_steps_only_delay_the_zigzag_of_the_sleigh():
    """It begins smaller as h^3 and grows at the rate k: a tenth of h delays it by 3 ln(10)/k."""
    truth, found = lesson_08.prediction_2()
    k = SHOWN["settling_rate"](nh.systems.sleigh())
    delay = found["fine"] - found["coarse"]
    assert truth.startswith("The same happens") and round(found["smaller"]) == 1000
    assert delay == pytest.approx(np.log(1000) / k, abs=0.5) and round(delay) == 35
    assert f"k={k:.3f}" in (PREDICTIONS / "08.md").read_text(encoding="utf-8")
    assert rf"t\approx{found['coarse']:.0f}$" in prose("08")


def test_what_decides_is_not_said_before_the_predictions_about_it():
    """Lesson 8 does not say where DLA drifts before 08.5, nor lesson 5 its option before 05.5."""
    before = prose("08").split("## Work and precision")[0].split("## What protects")[1]
    assert "DLA may drift" not in before and "nothing does" not in before
    assert "sign of $c$ at the start" not in prose("05")


def test_what_the_explanation_of_the_table_says_of_each_method():
    """Prediction 08.4 leaves the quartic oscillator out; its text names problems and verdicts."""
    data = comparison.load()
    problems, methods = data["problems"].tolist(), data["methods"].tolist()

    def verdict(problem: str) -> dict[str, str]:
        return dict(zip(methods, data["kind"][problems.index(problem)], strict=True))

    bad = {"drift", "stops", "lost"}
    others = verdict("non-reversible")
    assert others.pop("DiscreteGradient") == "exact" and {*others.values()} == bad
    turning = verdict("transmission, eps=.2")
    drifting = {m for m in methods if turning[m] == "drift"}
    assert drifting == {"DLA", "Reversible", "Composition 4"}
    assert verdict("Suslov")["Projector"] == "stops"
    assert lesson_08.prediction_4()[0] == "One"
    system, q0, v0, _ = comparison.problems()[lesson_08.MACHINE]
    sol = nh.integrate(system, nh.Reference(), q0[4], v0[4], h=1, steps=50)
    assert np.ptp(lesson_08.oscillators(sol)) < 1e-9  # 08.1: in truth they keep what they have
