"""What a run hands back is finite, or it says why not; one member fails alone."""

import time
import warnings

import numpy as np
import pytest
import sympy as sp
from runs import made, refused

import nhlab as nh
from nhlab.run import explain

S = nh.systems
BACKENDS = ("python", "numpy", "numba")
x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")


def steep():
    """Where a substep fails after good ones, in the eleventh step."""
    return nh.System((x,), (vx,), vx**2 / 2 + sp.exp(3 * x), q0=[0.0], v0=[1.0], name="steep")


def log_ball():
    return S.ball(rule="log")


LARGE = [(log_ball, nh.Projector(), 1000), (S.rubber_ball, nh.RK4(), 10), (S.ball, nh.EDLA(), 10)]
LARGE += [(S.rigid_body, nh.RK4(), 10), (S.quartic, nh.Composition(nh.Reversible()), 10)]
LARGE += [(S.kepler, nh.Composition(nh.DLA()), 0.4), (S.snakeboard, nh.Composition(nh.DLA()), 10)]
LARGE += [(S.particle, nh.DLA(0), 1e6), (S.sleigh, nh.Reversible(), 100)]
LARGE += [(steep, nh.Composition(nh.Reversible()), 0.05)]


def quietly(call):
    """The result of a call whose only warnings are those of energies."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="the energ")
        return call()


@pytest.mark.parametrize(
    "make, method, h, backend",
    [(*case, b) for k, case in enumerate(LARGE) for b in BACKENDS if b != "numba" or k % 3 == 2],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_a_member_fails_alone_and_all_that_is_kept_is_finite(make, method, h, backend):
    """Large steps beside a small one, on every backend; alone the small one does the same."""
    system, options = made(make), {"h": [h, 0.01, h], "steps": 40, "backend": backend}
    many = quietly(lambda: nh.ensemble(system, method, **options))
    assert many.ok[1] and many.steps_done[0] == many.steps_done[2]
    for k, done in enumerate(many.steps_done):
        assert np.isfinite(many.rows[k][: done + 1]).all()
        assert np.isnan(many.rows[k][done + 1 :]).all() and (done == 40) == many.ok[k]
    alone = nh.integrate(system, method, h=0.01, steps=40)
    np.testing.assert_allclose(many.rows[1], alone.rows.array, rtol=1e-9, atol=1e-12)
    if not many.ok[0]:
        error = quietly(lambda: many.error(0))
        assert error.step == many.steps_done[0] and " at " in error.reason
        assert error.reason.split(" at ")[0] in many.errors[0]
        assert np.isfinite(error.trajectory.rows.array).all()


WILD = (1e-12, 0.01, 0.1, 0.5, 1, 3, 10, 35.6, 100, 1000)
STEPPERS = [nh.DLA(), nh.DLA(0.3, True), nh.Projector(), nh.EDLA(), nh.RK4(), nh.Reversible()]
STEPPERS += [nh.Composition(nh.DLA())]


@pytest.mark.parametrize("make", [S.transmission, S.sleigh, S.pendulum], ids=lambda f: f.__name__)
@pytest.mark.parametrize("method", STEPPERS, ids=str)
def test_no_member_depends_on_its_company(make, method):
    """Step by step the same numbers alone, under CPython, as among runs that fail, on arrays."""
    system = made(make)
    many = quietly(lambda: nh.ensemble(system, method, h=WILD, steps=12, backend="numpy"))
    alone = quietly(lambda: nh.ensemble(system, method, h=WILD, steps=12, backend="python"))
    assert many.steps_done.tolist() == alone.steps_done.tolist() and many.errors == alone.errors
    np.testing.assert_allclose(many.rows, alone.rows, rtol=1e-9, atol=1e-12)


def test_an_explanation_may_fail_and_the_result_stays(monkeypatch):
    def broken(*_):
        raise AttributeError("no reason at all")

    monkeypatch.setattr(explain, "dependent", broken)
    with pytest.raises(nh.IntegrationError, match="did not converge") as error:
        nh.integrate(S.kepler(), nh.Composition(nh.DLA()), h=0.4, steps=10)
    assert len(error.value.trajectory) == 1


# ---------------------------------------------------------------------------- energies


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("summary", [None, "energy"])
def test_ensembles_warn_of_energies_that_jump(summary, backend):
    """Once, naming the first member and h; the summary adds no warning of its own."""
    options = {"h": [0.1, 35.6, 30.0], "steps": 40, "backend": backend, "summary": summary}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        many = nh.ensemble(S.particle(), nh.DLA(0), **options)
    (warning,) = found
    assert warning.category is RuntimeWarning and warning.filename == __file__
    text = str(warning.message)
    assert "of 2 of 3 members jump" in text and "member 1 from 2.5" in text and "h = 35.6" in text
    assert sorted(many.jumps) == [1, 2] and many.jumps[1][0] == 2.5 and many.jumps[1][1] > 1e50


def test_ensembles_with_parameters_and_sound_energies_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = nh.ensemble(S.sleigh(), nh.DLA(), h=0.1, steps=50, parameters={"a": [0.1, 0.2]})
        nh.ensemble(S.driven(), nh.DLA(), h=[0.1, 30.0], steps=5)  # its energy is not kept
    assert many.ok.all() and many.jumps == {}


def test_energies_of_round_off_do_not_warn():
    """At rest p = b; its last digit is a velocity, and an energy, beside which there is none."""
    L = vx**2 * (x**2 + 9) / 2 + 0.421510643772912 * vx * sp.exp(-(x**2))
    system, q = nh.System((x,), (vx,), L), np.full((5, 1), 0.3)
    digit = np.spacing(system.momentum(q[0], [0.0])) / system.M(q[0])[0]
    v = np.array([0, 1, -1, 2, 1])[:, None] * digit
    assert not explain.energy_jumps(system, q, v)[2]
    assert explain.energy_jumps(system, q, 1e6 * v)[2]  # which p does show


def test_quaternions_beyond_the_squares_of_floats_are_unit_ones():
    q0 = [0.12103769863128595, -0.8674569099438355, 0.38048025357626347, -0.2968217672935678]
    v0, options = [-0.03278991179319068, 0.11006447793775487, 0], {"h": 1000, "steps": 2}
    with pytest.warns(RuntimeWarning, match="energy changes"):
        sol = nh.integrate(S.suslov(rule="log"), nh.RK4(), q0, v0, **options)
    assert np.abs(np.linalg.norm(sol.q, axis=1) - 1).max() < 1e-15


# ---------------------------------------------------------------------------- at the door


def test_times_that_cannot_be_told_apart_are_refused():
    for method in (nh.Reference(), nh.DLA(), nh.EDLA()):
        for t0 in (1e16, -1e16):
            refused(lambda m=method, t=t0: nh.integrate(S.particle(), m, t0=t, h=0.1, steps=3),
                    "t0 = ", "h = 0.1", "round-off")  # fmt: skip
    refused(lambda: nh.ensemble(S.particle(), nh.DLA(), t0=1e4, h=[1.0, 1e-12], steps=3), "1e-12")
    sol = nh.integrate(S.particle(), nh.Reference(), t0=1e6, h=0.1, steps=3)
    near = nh.integrate(S.particle(), nh.Reference(), h=0.1, steps=3)
    np.testing.assert_allclose(sol.q, near.q, atol=1e-9)


def test_a_second_position_off_the_constraints_is_refused():
    """y does not change, so the form (-y, 0, 1) does not: nothing moves by wd = -49."""
    off = {"q0": [0, 1, 0], "q1": [5, 1, 0.1], "h": 0.1, "steps": 3}
    for method in (nh.DLA(), nh.DLA(constraint_alpha=0), nh.EDLA()):
        says = "q1 = [5, 1, 0.1] violates the discrete constraints", f"method = {method}", "-49"
        refused(lambda m=method: nh.integrate(S.particle(), m, **off), *says)
    many = off | {"q0": [[0, 1, 0]] * 2, "q1": [[0.1, 1, 0.1], [5, 1, 0.1]]}
    refused(lambda: nh.ensemble(S.particle(), nh.DLA(), **many), "q1[1] = ")
    nh.integrate(S.particle(), nh.Projector(), **off)  # which has no discrete constraints


def test_times_of_ten_units_in_the_last_place_can_be_told_apart():
    """At 2^52 a unit in the last place is 1: steps of 10 are taken, of 9.5 refused."""
    free, start = nh.System((x,), (vx,), vx**2 / 2), {"q0": [0.0], "v0": [1.0], "t0": 2.0**52}
    assert nh.integrate(free, nh.DLA(), **start, h=10.0, steps=2).t[-1] == 2.0**52 + 20
    refused(lambda: nh.integrate(free, nh.DLA(), **start, h=9.5, steps=2), "h = 9.5", "round-off")


def test_how_far_a_second_position_may_be_off():
    """By twice what the forms change on the way: with y' = 0.5 and h = 0.1 the form (-y, 0, 1)
    changes by 0.05, and z' is the largest velocity: |z' - 1.025| <= 2 * 0.05 z', z' <= 1.1389."""
    options = {"q0": [0, 1, 0], "h": 0.1, "steps": 1}
    nh.integrate(S.particle(), nh.DLA(), q1=[0.1, 1.05, 0.113], **options)
    off = [0.1, 1.05, 0.115]
    refused(
        lambda: nh.integrate(S.particle(), nh.DLA(), q1=off, **options), "q1 = [0.1, 1.05, 0.115]"
    )


@pytest.mark.parametrize("method", [nh.Projector(), nh.DLA(), nh.EDLA()], ids=str)
def test_a_second_position_beyond_all_numbers_is_answered_with_a_sentence(method):
    for system, q0, q1 in (
        (S.particle(), [0, 1, 0], [-1e308, 1, 0]),
        (S.pendulum(), [0.0], [-1e308]),
    ):
        refused(
            lambda s=system, a=q0, b=q1: nh.integrate(s, method, a, q1=b, h=0.1, steps=3),
            "q1 = [-1e+308",
        )
    many = {"q0": [[0.0], [0.0]], "q1": [[0.1], [-1e308]], "h": 0.1, "steps": 3}
    refused(lambda: nh.ensemble(S.pendulum(), method, **many), "member 1", "too far from q0")


def test_a_second_position_from_a_motion_is_accepted():
    """That of the true motion is off wd by as much as the forms change, and no more."""
    for make in (S.sleigh, S.particle, S.snakeboard, S.rolling_disk):
        system, h = make(), 0.2
        true = nh.integrate(system, nh.Reference(), h=h, steps=1).q
        for method in (nh.DLA(), nh.DLA(0), nh.Projector()):
            nh.integrate(system, method, true[0], q1=true[1], h=h, steps=2)


@pytest.mark.parametrize("method", [nh.DLA(), nh.Reference()], ids=str)
def test_more_steps_than_there_is_room_for(method):
    for steps in (10**12, 10**14):
        refused(lambda n=steps: nh.integrate(S.particle(), method, h=1.0, steps=n), "every", "room")
    refused(lambda: nh.integrate(S.particle(), method, h=1.0, steps=10**400), "steps = 1000")
    refused(lambda: nh.integrate(S.particle(), method, h=1.0, steps=0, every=10**30), "every = ")
    if method == nh.DLA():
        call = {"h": [0.1, 0.2], "steps": 10**13}
        refused(lambda: nh.ensemble(S.particle(), method, **call), "summary", "room")


def test_messages_hold_no_arrays():
    long = np.full((2000, 2), np.nan)
    bad = {"h": 0.1, "steps": 2}
    for call in (
        lambda: nh.ensemble(S.particle(), nh.DLA(), parameters=[1.0] * 3000, **bad),
        lambda: nh.ensemble(S.sleigh(), nh.DLA(), parameters={"a": long}, **bad),
        lambda: nh.ensemble(S.sleigh(), nh.DLA(), parameters={"a": ["x"] * 3000}, **bad),
        lambda: nh.ensemble(S.particle(), nh.DLA(), np.full((900, 3), np.nan), np.ones(3), **bad),
        lambda: nh.integrate(S.particle(), nh.DLA(), h=[0.1] * 3000, steps=2),
        lambda: nh.integrate(S.particle(), nh.DLA(), h=0.1, steps=["x"] * 3000),
    ):
        refused(call)


# ---------------------------------------------------------------------------- on the rotations


@pytest.mark.parametrize("method", [nh.RK4(), nh.Reference(rtol=1e-4)], ids=str)
def test_quaternions_stay_unit_ones(method):
    """After 200 rough steps they are rotations still."""
    system = S.rubber_ball()
    sol = nh.integrate(system, method, h=0.4, steps=200)
    np.testing.assert_allclose(np.linalg.norm(sol.q[:, -4:], axis=1), 1, atol=1e-15)
    nh.groups.SO3.matrix(sol.q[:, -4:])


# ---------------------------------------------------------------------------- other ways to fail


def test_a_piecewise_factor_in_two_terms():
    half = sp.Piecewise((x, x > 0), (2 * x, True))
    L = (vx**2 + vy**2) / 2 - half * x**2 - half * y**2
    kinked = nh.System((x, y), (vx, vy), L)
    smooth = nh.System((x, y), (vx, vy), L.xreplace({half: x}))
    start = {"q0": [1, 0], "v0": [0, 1], "h": 0.1, "steps": 5}
    for method in (nh.DLA(), nh.Projector(), nh.EDLA(), nh.RK4()):
        a, b = (nh.integrate(s, method, **start).q for s in (kinked, smooth))
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_horizontal_reduction_of_a_chaplygin_system_is_refused():
    """x and psi of this particle: (z by the constraint) and (a horizontal symmetry)."""
    w, vw = nh.symbols("w vw")
    L = (vx**2 + vy**2 + vz**2 + (1 + y**2) * vw**2) / 2 - y**2
    full = nh.System(
        (x, y, z, w), (vx, vy, vz, vw), L, [vz - y * vx], q0=[0, 1, 0, 0], v0=[1, 1, 1, 0.5]
    )
    refused(lambda: nh.Horizontal(nh.Chaplygin(full, fibre="z"), fibre="w"), "nh.Chaplygin(nh.Hor")
    twice = nh.Chaplygin(nh.Horizontal(full, fibre="w"), fibre="z")
    plain = nh.integrate(full, nh.DLA(), h=0.1, steps=50)
    reduced = nh.integrate(twice, nh.RDLA(), h=0.1, steps=50)
    np.testing.assert_allclose(reduced.q, plain.q[:, :2], atol=1e-12)


@pytest.mark.parametrize("rtol", [1e-6, 0.5])
def test_a_reference_that_overflows_on_the_way_is_silent(rtol):
    """Trial steps of an exploding motion overflow, in L and in SciPy; time is a number there."""
    x, vx, t = nh.symbols("x vx t")
    system = nh.System((x,), (vx,), vx**2 / 2 + (1 + t) ** 2 * x**4, t=t)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(nh.IntegrationError, match="the motion ends here"):
            nh.integrate(system, nh.Reference(rtol), [1.0], [1e10], h=1.0, steps=3)


def test_a_reference_whose_first_step_fails_says_so():
    """Steps of 1e-15 are lost beside t = 1e6."""
    x, vx = nh.symbols("x vx")
    system = nh.System((x,), (vx,), vx**2 / 2 - 1e30 * x**2)
    with pytest.raises(nh.IntegrationError, match="the motion ends here") as stopped:
        nh.integrate(system, nh.Reference(), [1.0], [0.0], h=0.3, steps=2, t0=1e6)
    assert stopped.value.step == 0 and len(stopped.value.trajectory) == 1


def test_a_motion_beyond_the_reach_of_the_reference_is_refused_soon():
    """A ball at 1e9 needs 1e8 steps of the solver and more; the first rows are kept."""
    ball = S.rubber_ball()
    begun = time.process_time()
    with pytest.raises(nh.IntegrationError, match=r"too fast for nh\.Reference") as stopped:
        nh.integrate(ball, nh.Reference(), ball.q0, 1e9 * np.array(ball.v0), h=0.1, steps=10)
    assert len(stopped.value.trajectory) == 1 and "rtol" in stopped.value.advice
    assert time.process_time() - begun < 30
    nh.integrate(
        ball, nh.Reference(), ball.q0, 1e3 * np.array(ball.v0), h=0.1, steps=1
    )  # the witness


@pytest.mark.parametrize("where", ["L", "constraints", "forces", "metric"])
def test_pieces_that_leave_a_gap_are_refused_by_the_system(where):
    """SymPy itself closes a gap that is none, as between x < 0 and x >= 0."""
    gap, whole = sp.Piecewise((x**2, x < 1)), sp.Piecewise((x**2, x < 1), (x, x >= 1))

    def system(pieces):
        parts = {"L": (vx**2 + vy**2) / 2, "constraints": [], "forces": None, "metric": None}
        parts["L"] -= pieces if where == "L" else 0
        parts |= {
            "constraints": {"constraints": [vy - pieces * vx]},
            "forces": {"forces": {"x": pieces}},
            "metric": {"metric": [[2 + pieces, 0], [0, 1]]},
        }.get(where, {})
        return nh.System((x, y), (vx, vy), **parts)

    refused(lambda: system(gap), where, "Piecewise((x**2, x < 1))", "(value, True)")
    nh.integrate(system(whole), nh.DLA(), [0.9, 0.0], [0.0, 0.0], h=0.1, steps=2)
