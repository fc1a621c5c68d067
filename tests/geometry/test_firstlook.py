"""A first look at a model: how far its constraints let it move, and what its true motion keeps."""

import pytest

import nhlab as nh
from nhlab.course.lessons import lesson_09
from nhlab.geometry.firstlook import kept


def test_growth_of_known_systems():
    """Car with a trailer: the slowest growth that reaches all five; an axle: two, then all."""
    known = {"particle": [2, 3], "knife_edge": [2, 3], "car_with_trailer": [2, 3, 4, 5]}
    for name, growth in known.items():
        assert nh.growth_vector(getattr(nh.systems, name)()) == growth, name


def test_nonholonomic_systems_that_do_not_reach_every_place():
    """The two that the page on notation names: not integrable, and yet a function is constant."""
    cart, (pair, _) = lesson_09.cart(), lesson_09.pair()
    rows = [*cart.constraints, cart.v[3]]
    locked = nh.System(cart.q, cart.v, cart.L, rows, parameters=cart.parameters)
    for system, growth in ((locked, [2, 3]), (pair, [2, 3, 4]), (cart, [3, 4])):
        assert not system.is_holonomic() and nh.growth_vector(system) == growth


def test_integrable_and_free_systems_do_not_grow():
    quartic = nh.systems.quartic()  # x' + y z' = 0; odelab's program has x' + z z' = 0
    form = quartic.v[0] + sum(z * vz for z, vz in zip(quartic.q[4:], quartic.v[4:], strict=True))
    odelab = nh.System(quartic.q, quartic.v, quartic.L, [form])
    assert nh.growth_vector(odelab) == [6] and nh.growth_vector(quartic) == [6, 7]
    assert nh.growth_vector(nh.systems.pendulum()) == [1]


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_units_do_not_change_the_growth(size):
    s = nh.systems.roller_racer()
    big = s.set(**{p.name: size * x for p, x in s.parameters.items() if p.name in ("d1", "d2")})
    assert nh.growth_vector(big) == nh.growth_vector(s) == [2, 3, 4]


@pytest.mark.parametrize("mass", [1e-9, 1.0, 1e9])
def test_energy_is_kept_relative_to_its_size(mass):
    x, v = nh.symbols("x v")
    system = nh.System((x,), (v,), mass * (v**2 - x**2) / 2, q0=[10], v0=[0])
    runs = {m: nh.integrate(system, m, h=0.1, steps=100) for m in (nh.Reference(), nh.RK4())}
    assert kept(runs[nh.Reference()])[0] and not kept(runs[nh.RK4()])[0]


def test_the_constraint_is_kept_relative_to_the_velocities():
    fast = nh.integrate(lesson_09.cart(k=1e6), nh.Reference(), h=1e-3, steps=100)
    assert kept(fast)[1]
    assert not kept(nh.integrate(lesson_09.cart(), nh.DLA(), h=0.05, steps=100))[1]


def test_the_answers_print_themselves_and_hold_the_motion():
    answers = nh.ask(lesson_09.cart())
    assert str(answers).splitlines() == [
        "cart with a rotor: growth [3, 4] of 4",
        "    kept: energy True, constraints True; integrable False",
    ]
    assert answers.motion.t[-1] == pytest.approx(10) and len(answers.motion.t) == 101
    other = nh.ask(lesson_09.cart(), [0, 0, 0, 1], [0, 0, 0, 0], T=1)
    assert other.motion.q[0, 3] == 1 and other.motion.t[-1] == pytest.approx(1)


def test_with_forces_no_claim_is_made_of_the_energy():
    free = nh.systems.particle()
    braked = free.replace(forces={"x": -free.v[0]})
    assert nh.ask(braked, T=2).energy is None and "by forces" in str(nh.ask(braked, T=2))


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: nh.growth_vector("cart"), "system = 'cart' is no nh.System"),
        (lambda: nh.growth_vector(nh.systems.suslov()), "state it in coordinates"),
        (lambda: nh.growth_vector(nh.systems.driven()), "must be A(q) v = 0"),
        (lambda: nh.ask(nh.systems.particle(), T=-1), "T = -1 must be positive"),
    ],
)
def test_bad_input_is_answered_by_a_sentence(call, said):
    with pytest.raises(ValueError) as caught:
        call()
    assert said in str(caught.value)
