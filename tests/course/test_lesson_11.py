"""Lesson 11 and its companion: the numbers and claims of the text."""

import re

import numpy as np
import pytest
import sympy as sp
from prose import prose

import nhlab as nh
from nhlab.course.lessons import lesson_11 as lesson
from nhlab.course.lessons import lesson_11b as depth


def rate_with(g, T=6000.0, h=0.2):
    """The rate of the swing's logarithm by DLA with the potential 0.2 g(y)."""
    gear = nh.systems.transmission(eps=0.0)
    odd = gear.replace(L=gear.L - sp.Rational(1, 5) * g(gear.q[1]))
    sol = nh.integrate(odd, nh.DLA(), v0=(0, 2.5, 0.3), h=h, steps=round(T / h), every=5)
    return np.polyfit(sol.t, np.log(lesson.swing(sol)), 1)[0]


def test_odd_functions_change_the_swing_and_even_ones_do_not():
    falls, grows = rate_with(lambda y: sp.sin(2 * y)), rate_with(sp.sin)
    said = int(re.search(r"the rate is (\d+) times smaller", prose("11"))[1])
    assert falls < 0 < grows
    assert -falls / grows == pytest.approx(said, rel=0.05)
    assert abs(rate_with(lambda y: sp.cos(2 * y))) < 1e-3 * -falls


def test_the_rate_is_of_order_eps_h_squared():
    assert lesson.decay(0.1) / lesson.decay(0.05) == pytest.approx(4, rel=0.05)
    assert lesson.decay(0.1) / lesson.decay(0.1, eps=0.1) == pytest.approx(2, rel=0.05)
    assert lesson.decay(0.1) == pytest.approx(-lesson.decay(0.1, speed=-2.5), rel=0.05)


def test_the_projector_keeps_the_swing_of_linear_springs_to_rounding():
    sol = nh.integrate(nh.systems.transmission(), nh.Projector(), h=0.2, steps=2000)
    assert np.ptp(lesson.swing(sol)[1:]) < 1e-12


def test_drift_follows_the_mirror_image():
    """A part of the companion's table."""
    for case in depth.CASES[5:7]:
        gained, band = depth.drifts(case, steps=10_000).T
        ratio = np.median(np.abs(gained) / band)
        assert (depth.mirror_gap(case) < 0.2) == (ratio < 0.02), case.name
        assert ratio < 0.02 or ratio > 0.2, case.name


@pytest.mark.slow
@pytest.mark.parametrize("case", depth.CASES, ids=lambda case: case.name)
def test_drift_follows_the_mirror_image_in_every_case_of_the_table(case):
    """Half as many steps as in the table; the chaotic quartic has neither a mirror nor a drift that
    is a straight line."""
    gained, band = depth.drifts(case, steps=10_000).T
    ratio = np.median(np.abs(gained) / band)
    assert (depth.mirror_gap(case) < 0.2) == (ratio < 0.02)
    assert ratio < 0.002 or ratio > 0.1


@pytest.mark.parametrize("name", ["particle", "sleigh", "robot", "snakeboard"])
@pytest.mark.parametrize("method", [nh.Projector(), nh.Projector(0.3), nh.Projector(0, True)])
def test_determinant_of_a_projector_step(name, method):
    s = getattr(nh.systems, name)()
    q = np.array(s.q0, float) + 0.1
    p = s.momentum(q, s.project(q, s.v0)) + 0.1
    tangent = depth.step_tangent(s, method, q, p, h=0.1)
    assert np.linalg.det(tangent) == pytest.approx((-1) ** s.m, abs=1e-8)


def rates(system, q, v, h, spin=0.0):
    """log |eigenvalue| / h of a projector step from a steady motion: of the directions within D and
    of those across it, in their order of size.

    spin : the motion turns the plane of x, y at this rate, and the step is taken back by as much
    """
    q, v, n = np.array(q, float), np.array(v, float), len(q)
    T = depth.step_tangent(system, nh.Projector(), q, system.momentum(q, v), h, d=1e-5)
    c, s = np.cos(spin * h), np.sin(spin * h)
    for k in (0, n):
        T[[k, k + 1]] = [[c, s], [-s, c]] @ T[[k, k + 1]]
    values = np.linalg.eigvals(T)
    across = np.argsort(np.abs(values + 1))[: system.m]  # they change their sign in each step
    within = np.delete(values, across)
    return [np.sort(np.log(np.abs(x))) / h for x in (within, values[across])]


def growth_of_the_slip(system, q, v, h, t):
    """The rate at which |A v| grows in a run of the projector method, between two times."""
    q = np.array(q, float)
    sol = nh.integrate(system, nh.Projector(), q, system.project(q, v), h=h, T=t[1], progress=False)
    size, use = np.linalg.norm(sol.constraint(), axis=1), sol.t > t[0]
    return np.polyfit(sol.t[use], np.log(size[use]), 1)[0]


def numbers(text):
    """The numbers that the companion says by a sentence."""
    return [float(x) for x in re.search(text, prose("11b")).groups()]


def test_a_racer_that_settles_has_a_zigzag_that_grows():
    racer = nh.systems.roller_racer()
    within, across = rates(racer, [0, 0, 0, 0], [1, 0, 0, 0], h=0.1)
    settles, zigzag = numbers(r"roller racer.*?rates ([\d.]+), twice.*?at the rate ([\d.]*\d)")
    assert within[:2] == pytest.approx(-settles, abs=1e-3) and np.abs(within[2:]).max() < 1e-4
    assert across == pytest.approx([0, zigzag], abs=1e-3)
    found = growth_of_the_slip(racer, [0, 0, 0, 1e-4], [1, 0, 0, 0], h=0.1, t=(8, 14))
    assert found == pytest.approx(zigzag, abs=2e-3)


def test_a_rattleback_that_settles_has_two():
    """Spun as it likes; the other way round D gains volume, and the zigzag dies out."""
    stone, place = nh.systems.rattleback(), np.zeros(5)
    within, across = rates(stone, place, [0, 0, 5, 0, 0], h=0.0025, spin=5)
    rattle, pitch, zigzag = numbers(
        r"shrink by ([\d.]+) and two that grow by ([\d.]+).*?grow at ([\d.]*\d)"
    )
    assert within[:2] == pytest.approx(-rattle, abs=5e-3)
    assert within[-2:] == pytest.approx(pitch, abs=5e-3)
    assert across == pytest.approx(zigzag, abs=5e-3) and within.sum() + across.sum() < 1e-6
    start = [0, 0, 0, 1e-6, 1e-6], [0, 0, 5, 0, 0]
    assert growth_of_the_slip(stone, *start, h=0.0025, t=(2, 6)) == pytest.approx(zigzag, rel=0.03)
    other = rates(stone, place, [0, 0, -5, 0, 0], h=0.0025, spin=-5)
    assert other[1] == pytest.approx(-zigzag, abs=5e-3)


def test_a_snakeboard_that_settles_to_nothing_has_none():
    """Straight ahead no direction within D shrinks, and across D none grows."""
    within, across = rates(nh.systems.snakeboard(), [0] * 5, [1, 0, 0, 0, 0], h=0.1)
    assert np.abs(within).max() < 1e-4 and np.abs(across).max() < 1e-4


# ---------------------------------------------------------------------------- exact objects


def test_the_table_of_the_exact_objects():
    """The last column of 11b's table is the least of w_d, p0 and the equations less one; the text
    speaks of its fourth and fifth line."""
    hs = [0.04, 0.02, 0.01]
    for method in (nh.DLA(), nh.DLA(0.3), nh.DLA(constraint_alpha=0),
                   nh.DLA(0.3, constraint_alpha=0.5)):  # fmt: skip
        exact = nh.exact.orders(nh.systems.sleigh(), method, hs=hs)
        run = nh.diagnostics.order(nh.systems.sleigh(), method, T=1, hs=hs).slope
        assert exact.predicted == pytest.approx(run, abs=0.1)
        assert exact.constraint.slope == pytest.approx(method.order, abs=0.1) or (
            method.constraint_alpha == 0.5
        )
    assert exact.constraint.slope == pytest.approx(2, abs=0.1) and run == pytest.approx(1, abs=0.1)


def test_what_is_said_of_modified_equations():
    """The robot's mass for three rates, and the reversal of the midpoint rule's term alone."""
    robot = nh.Chaplygin(nh.systems.robot(k=0), fibre="x y")
    for omega in (1, 2, 3):
        term = nh.diagnostics.modified_term(robot, nh.RDLA(), [0, 0], [omega, 1])
        assert term.q[1] == pytest.approx(omega**2 / (8 * 4**2) * 4, abs=3e-6)
    for alpha, sign in ((0.5, 1), (0.3, -1)):
        there, back = (nh.diagnostics.modified_term(nh.systems.pendulum(), nh.Variational(alpha),
                                                    [0.8], [v]) for v in (0.5, -0.5))  # fmt: skip
        assert there.q[0] == pytest.approx(-sign * back.q[0], abs=1e-5) and abs(back.q[0]) > 0.01
        assert there.p[0] == pytest.approx(sign * back.p[0], abs=1e-5) and abs(back.p[0]) > 0.01


# ---------------------------------------------------------------------------- the cure


def test_the_cure_and_what_it_costs():
    sleigh, racer = nh.systems.sleigh(), nh.systems.roller_racer()
    said = numbers(
        r"it is off by ([\d.]+), the projector method by ([\d.]+), but DLA only by ([\d.]*\d)"
    )
    true = nh.integrate(sleigh, nh.Reference(), h=100, steps=1).q[-1]
    for method, number in zip((nh.EqualImpulses(), nh.Projector(), nh.DLA()), said, strict=True):
        sol = nh.integrate(sleigh, method, h=0.1, steps=1000, progress=False)
        assert np.abs(sol.q[-1] - true).max() == pytest.approx(number, rel=0.1)
    q, v = np.array([0, 0, 0, 1e-4]), racer.project([0, 0, 0, 1e-4], [1, 0, 0, 0])
    true, wild, ours = (nh.integrate(racer, m, q, v, h=0.1, steps=300, progress=False)
                        for m in (nh.Reference(), nh.Projector(), nh.EqualImpulses()))  # fmt: skip
    assert 1 < np.abs(wild.q[-1] - true.q[-1]).max() < 100
    assert (
        np.abs(ours.q[-1] - true.q[-1]).max() < 2e-8 < 1e-7 < np.abs(ours.q[30] - true.q[30]).max()
    )


def test_the_cure_of_the_rattleback():
    """Spun as it likes: the projector method's error reaches metres in ten seconds, while that of
    equal impulses stays with the true motion as DLA does."""
    stone, q = nh.systems.rattleback(), np.array([0, 0, 0, 1e-6, 1e-6])
    v = stone.project(q, [0, 0, 5, 0, 0])
    runs = [nh.integrate(stone, m, q, v, h=0.0025, steps=4000, progress=False)
            for m in (nh.Reference(), nh.Projector(), nh.EqualImpulses())]  # fmt: skip
    wild, ours = (np.abs(sol.q[-1] - runs[0].q[-1]).max() for sol in runs[1:])
    assert wild > 1 and ours < 1e-5


# ---------------------------------------------------------------------------- Newmark, Lobatto


def test_the_rates_of_newmark_cross_zero_near_a_twelfth():
    betas = np.array([0, 0.075, 0.1, 0.3])
    rates = [depth.newmark_rate(nh.Newmark(beta)) for beta in betas]
    assert rates[0] < rates[1] < 0 < rates[2] < rates[3]
    stated = re.search(r"zero at \$\\beta=([\d.]+)\$.*?, to ([\d.]+) at \$h=0.1\$", prose("11b"))
    for h, place in zip((0.2, 0.1), map(float, stated.groups()), strict=True):
        low, high = (depth.newmark_rate(nh.Newmark(beta), h) for beta in (0.05, 0.125))
        assert 0.05 - 0.075 * low / (high - low) == pytest.approx(place, abs=6e-4)
    dla = re.search(r"at the rate \$([\d.]+)\\cdot10\^\{-4\}\$, the members", prose("11b"))[1]
    assert -depth.newmark_rate(nh.DLA()) == pytest.approx(float(dla) * 1e-4, rel=0.02)
    halves = [depth.newmark_rate(nh.Newmark(beta), 0.1) for beta in (0, 1 / 6)]
    both, other = (depth.newmark_rate(nh.Newmark(0, second_beta=x)) for x in (1 / 6, 1 / 4))
    assert 10 * abs(both) < min(map(abs, halves)) < 2 * abs(other)


def test_the_powers_of_newmark_s_rates():
    """h^4 for a member, h^6 for beta = 1/12, and a change of sign of the composition's."""

    for beta, h, power in ((0, 0.1, 4), (1 / 12, 0.15, 6)):
        rates = [depth.newmark_rate(nh.Newmark(beta), x) for x in (2 * h, h)]
        assert np.log2(rates[0] / rates[1]) == pytest.approx(power, abs=0.2)
    composed = [depth.newmark_rate(nh.Newmark(0, second_beta=1 / 6), h, T=8000) for h in (0.3, 0.4)]
    assert composed[0] > 1e-7 and composed[1] < -1e-6


def test_the_exercise_on_two_members():
    assert depth.exercise_3(2 / 12 - 0.04) is None
    assert "their mean" in depth.exercise_3(1 / 12)
    assert "the same direction" in depth.exercise_3(0.04)
    assert "still grows" in depth.exercise_3(0.25) and "still falls" in depth.exercise_3(0.0)
    assert "from 0 to 1/2" in depth.exercise_3(-1)


@pytest.mark.parametrize(
    "name", ["particle", "sleigh", "robot", "snakeboard", "contact_oscillator"]
)
def test_errors_of_lobatto_beside_those_of_compositions(name):
    """At order 4 two to four times as large; at order 6 smaller, but on the sleigh."""
    system, T = getattr(nh.systems, name)(), 10
    true = nh.integrate(system, nh.Reference(), h=T, steps=1).q[-1]

    def error(method, steps):
        sol = nh.integrate(system, method, h=T / steps, steps=steps)
        return np.abs(sol.q[-1] - true).max()

    ratio = error(nh.Lobatto(), 80) / error(nh.Composition(nh.DLA()), 80)
    assert 1.9 < ratio < 4.3
    smaller = error(nh.Lobatto(4), 40) < error(nh.Composition(nh.DLA(), 6), 40)
    assert smaller == (name != "sleigh")


# ---------------------------------------------------------------------------- the stored table


def stored(name):
    """The numbers of a row of the companion's table: gap, median and largest drift."""
    row = re.search(rf"\| {name} \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", prose("11b"))
    return [float(x) for x in row.groups()]


def test_the_stored_table_has_all_cases():
    assert all(len(stored(case.name)) == 3 for case in depth.MORE)
    assert len(depth.MORE) + len(depth.CASES) == 16  # as the summary says


QUICK = "Kepler", "free particle", "sleigh"


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=() if c.name in QUICK else pytest.mark.slow) for c in depth.MORE],
    ids=lambda case: case.name,
)
def test_drift_of_more_systems(case):
    gained, band = depth.drifts(case).T
    ratio = np.abs(gained) / band
    gap, median, largest = stored(case.name)
    assert depth.mirror_gap(case) == pytest.approx(gap, abs=0.01)
    assert np.median(ratio) == pytest.approx(median, rel=0.3)
    assert ratio.max() == pytest.approx(largest, rel=0.3)


@pytest.mark.parametrize("name", ["free particle", "sleigh"])
def test_motions_that_settle_gain_no_more(name):
    (case,) = (c for c in depth.MORE if c.name == name)
    ratios = [np.median(np.abs(np.divide(*depth.drifts(case, steps=n).T))) for n in (5000, 20_000)]
    assert ratios[0] / ratios[1] == pytest.approx(4, rel=0.1)


def test_what_is_said_of_the_sphere():
    sphere = nh.ChaplyginSphere()
    sol = nh.integrate(sphere.full, nh.DLA(), h=0.1, steps=50)
    K, gamma = sphere.momentum_and_vertical(sol)
    ours = sphere.run(K[0], gamma[0], 0.1, 50)
    assert np.abs(ours[0] - K).max() < 1e-12 and np.abs(ours[1] - gamma).max() < 1e-12


def test_what_is_said_of_one_energy():
    """H and the error of the free particle with h = 1/4, without and with the correction."""
    x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
    free = nh.System((x, y, z), (vx, vy, vz), (vx**2 + vy**2 + vz**2) / 2, [vz - y * vx],
                     q0=(0, 0, 0), v0=(1, 1, 0))  # fmt: skip
    reduction = nh.Chaplygin(free, fibre="z")
    new = nh.invariant_measure(reduction).hamiltonise()
    falls, far, within, near = numbers(
        r"its \$H\$ falls by ([\d.]+) % until .* the error is ([\d.]+); with the correction "
        r"\$H\$ stays within ([\d.]+) % and the error is ([\d.]*\d)"
    )
    true = nh.integrate(reduction, nh.Reference(), h=10, steps=1)
    N = (1 + true.q[-1, 1] ** 2) ** np.array([0.5, -0.5])
    for s, loss, error in ((new.at_energy(), falls, far), (new.at_energy(h=0.25), within, near)):
        sol = nh.integrate(s, nh.Variational(), h=0.25, T=10)
        H = (sol.p[:, 1] ** 2 * (1 + sol.q[:, 1] ** 2) + sol.p[:, 0] ** 2) / 2
        assert 100 * (1 - H.min()) == pytest.approx(loss, rel=0.02) and H.max() < 1 + 1e-12
        gap = np.concatenate([sol.p[-1] - N * true.v[-1], sol.q[-1] - true.q[-1]])
        assert np.linalg.norm(gap) == pytest.approx(error, rel=0.02)


def test_the_volume_that_rises_in_the_picture_comes_back():
    """What prediction 4 says of eps = 0: a beat that reaches .020 and is over at t = 1000."""
    change = lesson.volumes(0.0, steps=5200)[1]
    first, end, top, last = (change[k - 100 : k + 100].mean() for k in (100, 1900, 2500, 5000))
    assert first < end < top and top - first > 0.005 and abs(last - first) < 5e-4
    assert change.max() == pytest.approx(0.020, abs=5e-4)


def test_where_the_pendulum_goes_when_the_swing_is_gone():
    """What the predictions say: the racks are at rest, and the pendulum goes round as before."""
    sol = lesson.long_run(0.2)
    assert sol.v[-500:, 1].min() > 1 and np.abs(sol.v[-500:, [0, 2]]).max() < 0.01
    reduction = nh.Chaplygin(lesson.geared(0.2), fibre="z")
    relative = nh.integrate(reduction, nh.RDLA(), h=0.2, steps=100_000, every=20)
    assert relative.v[-500:, 1].min() > 1 and np.abs(relative.v[-500:, 0]).max() < 1e-3
