"""Invariant densities of Chaplygin systems, how methods keep them, and the new time."""

import numpy as np
import pytest
import sympy as sp

import nhlab as nh

x, y, z, vx, vy, vz, k, eps = nh.symbols("x y z vx vy vz k eps")
PARTICLE = nh.Chaplygin(nh.systems.particle(), fibre="z")


def geared(eps_value):
    """A pendulum y that drives the slope sin y of a particle on a spring, z' = sin(y) x'."""
    L = (vx**2 + vy**2 + vz**2 - x**2) / 2 + sp.cos(y) - eps * sp.sin(2 * y)
    return nh.System(
        *((x, y, z), (vx, vy, vz), L, [vz - sp.sin(y) * vx]),
        parameters={"eps": eps_value},
        q0=(0.3, 0, 0),
        v0=(0.3, 2.5, 0),
        name="geared",
    )


def test_densities_known_from_the_literature():
    """Of the particle, and 1 of bodies that roll without the shape being bent."""
    assert nh.invariant_measure(PARTICLE).density == sp.sqrt(1 + y**2)
    for system, fibre in ((nh.systems.robot(), "x y"), (nh.systems.rolling_disk(), "x y")):
        assert nh.invariant_measure(nh.Chaplygin(system, fibre=fibre)).density == 1
    ball = nh.Chaplygin(nh.systems.rubber_ball(), base="x y")
    assert nh.invariant_measure(ball).density == 1


def flow_determinant(reduction, r, v, T, d=1e-4):
    """|det| of the true flow's tangent in (r, v), by differences."""
    z, n = np.concatenate([r, v]), len(r)

    def flow(z):
        sol = nh.integrate(reduction, nh.Reference(), z[:n], z[n:], h=T, steps=1)
        return np.concatenate([sol.q[-1], sol.v[-1]])

    columns = [(flow(z + e) - flow(z - e)) / (2 * d) for e in d * np.eye(2 * n)]
    return abs(np.linalg.det(columns)), flow(z)


@pytest.mark.parametrize(
    ("reduction", "r", "v"),
    [
        (PARTICLE, (0.2, 0.9), (1.0, 0.4)),
        (nh.Chaplygin(nh.systems.knife_edge(), fibre="y"), (0.1, 0.2), (0.5, 0.4)),
        (nh.Chaplygin(nh.systems.sleigh(a=0.0), fibre="y"), (0.1, 0.2), (0.5, 0.4)),
        (nh.Chaplygin(geared(0.2), fibre="z"), (0.3, 0.1), (0.3, 2.5)),
    ],
    ids=["particle", "knife edge", "sleigh", "geared"],
)
def test_the_true_motion_keeps_the_density(reduction, r, v):
    density = nh.invariant_measure(reduction).density
    factor, end = flow_determinant(reduction, r, v, T=1.0)
    n = len(r)
    before, after = (reduction.values(density, q) for q in (r, end[:n]))
    assert abs(factor * after / before - 1) < 1e-6
    assert abs(factor - 1) > 1e-3  # so that the density has something to say


def test_the_sleigh_has_none():
    """Its motion settles; the centre of mass over the contact, a = 0, makes the difference."""
    measure = nh.invariant_measure(nh.Chaplygin(nh.systems.sleigh(), fibre="y"))
    assert not measure
    assert "no smooth density" in str(measure)
    with pytest.raises(ValueError, match="no rate of a function"):
        measure.change(nh.RDLA(), h=0.1)
    with pytest.raises(ValueError, match="has no multiplier"):
        measure.hamiltonise()
    assert nh.invariant_measure(nh.Chaplygin(nh.systems.sleigh(a=0.0), fibre="y"))


def test_with_a_potential_only_densities_of_the_shape_are_refuted():
    sleigh = nh.systems.sleigh()
    hill = sleigh.remade(L=sleigh.L - sleigh.q[2] ** 2)
    assert "no density N(r)" in str(nh.invariant_measure(nh.Chaplygin(hill, fibre="y")))


def test_a_form_that_is_no_power_of_the_determinant():
    """theta = y/(1+y^2) dy is half of that of a plane slope; a mass of vy that grows with y makes
    another determinant."""
    L = ((1 + y**2) * vy**2 + vx**2 + vz**2) / 2
    s = nh.System((x, y, z), (vx, vy, vz), L, [vz - (y + y**2) * vx])
    reduction = nh.Chaplygin(s, fibre="z")
    measure = nh.invariant_measure(reduction)
    factor, end = flow_determinant(reduction, (0.2, 0.9), (1.0, 0.4), T=1.0)
    before, after = (reduction.values(measure.density, q) for q in ((0.2, 0.9), end[:2]))
    assert abs(factor * after / before - 1) < 1e-6


def test_methods():
    """Symmetric ones keep the particle's density in a band that shrinks with h^2; others do not."""
    measure = nh.invariant_measure(PARTICLE)
    bands = [np.ptp(measure.change(nh.RDLA(), h=h, steps=round(40 / h))) for h in (0.2, 0.1)]
    assert bands[0] < 3e-3
    assert 3 < bands[0] / bands[1] < 5
    assert measure.change(nh.RDLA(0.3), h=0.2, steps=200)[-1] < -1
    drift = measure.change(nh.RK4(), h=0.2, steps=200)
    assert abs(drift[-1]) > 10 * abs(drift[1])
    with pytest.raises(ValueError, match="chooses its own steps"):
        measure.change(nh.REDLA(), h=0.1, steps=2)


def test_the_tangent_of_a_step_is_that_of_the_run():
    """Two steps change the volume by the product of what each does from where it begins."""
    measure = nh.invariant_measure(PARTICLE)
    whole = measure.change(nh.RDLA(), h=0.2, steps=2)
    sol = nh.integrate(PARTICLE, nh.RDLA(), h=0.2, steps=1)
    second = measure.change(nh.RDLA(), sol.q[1], sol.v[1], h=0.2, steps=1)
    assert whole[2] - whole[1] == pytest.approx(second[1], abs=1e-9)


def test_hamiltonised_particle():
    """Order 2 to the true motion of the full system, whose energy is that of the new one."""
    particle = nh.systems.particle()
    new = nh.invariant_measure(PARTICLE).hamiltonise()
    assert sp.simplify(new.system.L - ((vx**2 + vy**2 / (1 + y**2)) / 2 - x**2 - y**2)) == 0
    errors = []
    for h in (0.1, 0.05, 0.025):
        sol = nh.integrate(new.system, nh.Variational(), h=h, steps=round(4 / h))
        t, q = new.reconstruct(sol, [0.0])
        true = nh.integrate(particle, nh.Reference(), h=t[-1], steps=1)
        errors.append(np.abs(true.q[-1] - q[-1]).max())
    slopes = np.log2(np.divide(errors[:-1], errors[1:]))
    assert slopes == pytest.approx(2, abs=0.1)
    assert sol.energy()[0] == pytest.approx(particle.energy(particle.q0, particle.v0))


def test_the_new_time_does_not_need_a_reversal():
    """The geared particle goes round: DLA's energy falls and its volume shrinks, and in the new
    time neither happens."""
    reduction = nh.Chaplygin(geared(0.2), fibre="z")
    measure = nh.invariant_measure(reduction)
    old = nh.integrate(reduction, nh.RDLA(), h=0.2, steps=2000)
    new = nh.integrate(measure.hamiltonise().system, nh.Variational(), h=0.2, steps=2000)
    slopes = [nh.diagnostics.drift(s.t[1:], s.energy("midpoints"))[0] for s in (old, new)]
    assert slopes[0] < -3e-5
    assert abs(slopes[1]) < 1e-6
    assert measure.change(nh.RDLA(), h=0.2, steps=800)[-1] < -0.1


def test_bad_input():
    with pytest.raises(ValueError, match="is no nh"):
        nh.invariant_measure(nh.systems.particle())
    damped = nh.systems.particle().remade(forces=[-vx, 0, 0])
    with pytest.raises(ValueError, match="forces of its own"):
        nh.invariant_measure(nh.Chaplygin(damped, fibre="z"))
    with pytest.raises(ValueError, match="depends on time"):
        nh.invariant_measure(nh.Chaplygin(nh.systems.driven(), fibre="z"))
    one = nh.System((x, z), (vx, vz), (vx**2 + vz**2) / 2, [vz - vx])
    with pytest.raises(ValueError, match="1 shape coordinates"):
        nh.invariant_measure(nh.Chaplygin(one, fibre="z")).hamiltonise()
    new = nh.invariant_measure(PARTICLE).hamiltonise()
    other = nh.integrate(PARTICLE, nh.RDLA(), h=0.1, steps=2)
    with pytest.raises(ValueError, match="must be a run of"):
        new.time(other)
