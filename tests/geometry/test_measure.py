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
    hill = sleigh.replace(L=sleigh.L - sleigh.q[2] ** 2)
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


def midpoints(sol, t):
    """Midpoints and velocities of the steps of a run, for the times t of its nodes."""
    return (sol.q[1:] + sol.q[:-1]) / 2, np.diff(sol.q, axis=0) / np.diff(t)[:, None]


def test_at_one_energy_the_time_needs_no_change():
    """The Lagrangian N (L* + E) of Garcia-Naranjo & Vermeeren: order 2 in t, and the discrete
    Euler-Lagrange equations of its midpoint rule, written anew."""
    new = nh.invariant_measure(PARTICLE).hamiltonise()
    s, errors = new.at_energy(), []
    for h in (0.1, 0.05, 0.025):
        sol = nh.integrate(s, nh.Variational(), h=h, T=4)
        t, q = new.reconstruct(sol, [0.0])
        true = nh.integrate(nh.systems.particle(), nh.Reference(), h=4, steps=1)
        errors.append(np.abs(true.q[-1] - q[-1]).max())
    assert t[-1] == 4
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(2, abs=0.1)
    h, E = 0.025, nh.systems.particle().energy([0, 1, 0], [1, 1, 1])
    a, b = sp.symbols("x0 y0"), sp.symbols("x1 y1")
    ends = [*zip(a, b, strict=True)]
    (mx, my), (u, w) = ((p + r) / 2 for p, r in ends), ((r - p) / h for p, r in ends)
    Ld = h * (((1 + my**2) * u**2 + w**2) / 2 - mx**2 - my**2 + E) / sp.sqrt(1 + my**2)
    left, right = ([sp.lambdify((a, b), Ld.diff(x)) for x in ends] for ends in (a, b))
    q = sol.q
    for arrives, leaves in zip(right, left, strict=True):
        assert abs(arrives(q[6], q[7]) + leaves(q[7], q[8])) < 1e-10


def test_at_another_energy_the_motion_is_another():
    new = nh.invariant_measure(PARTICLE).hamiltonise()
    true = nh.integrate(PARTICLE, nh.Reference(), h=4, steps=1).q[-1]
    right, wrong = (nh.integrate(new.at_energy(E), nh.Variational(), h=0.02, T=4) for E in (2.5, 2))
    assert np.abs(right.q[-1] - true).max() < 1e-3
    assert np.abs(wrong.q[-1] - true).max() > 0.1
    with pytest.raises(ValueError, match="must be a run of"):
        new.time(nh.integrate(PARTICLE, nh.RDLA(), h=0.1, steps=2))


@pytest.mark.parametrize(
    ("spring", "corrected", "energy", "far"),
    [
        (0, False, (0.974, 1.000), 0.133),
        (0, True, (0.9965, 1.000), 0.0238),
        (1, True, (0.9956, 1.000), 0.0305),
    ],
    ids=["free, E of the start", "free, E corrected", "spring, E corrected"],
)
def test_the_published_particle_at_one_energy(spring, corrected, energy, far):
    """The midpoint method ("M") of the program that Garcia-Naranjo & Vermeeren published with their
    paper (mvermeeren/conf-ham-sys-2020): h = 1/4, t = 10, (p_x, x, p_y, y) = (1, 0, 1, 0).

    energy : the least and largest H, as in their first panels;  far : the distance in (p, r) from
    the true motion at the end, in the panel "Error norm" where there is one.  Their E is corrected
    to order 4, ours to order 2.
    """
    L = (vx**2 + vy**2 + vz**2) / 2 - spring * (x**2 + y**2) / 2
    full = nh.System((x, y, z), (vx, vy, vz), L, [vz - y * vx], q0=(0, 0, 0), v0=(1, 1, 0))
    reduction = nh.Chaplygin(full, fibre="z")
    new = nh.invariant_measure(reduction).hamiltonise()
    s = new.at_energy(h=0.25) if corrected else new.at_energy()
    theirs = {0: 0.9973904079861111, 1: 0.992236328125}[spring]  # of order 4
    E = next(iter(s.parameters.values()))
    assert E == 1 if not corrected else (1e-7 < abs(E - theirs) < 0.25**4 / 24)
    sol = nh.integrate(s, nh.Variational(), h=0.25, T=10)
    p, r = sol.p, sol.q
    H = (p[:, 1] ** 2 * (1 + r[:, 1] ** 2) + p[:, 0] ** 2 + spring * (r**2).sum(1)) / 2
    assert (H.min(), H.max()) == pytest.approx(energy, abs=2e-4)
    true = nh.integrate(reduction, nh.Reference(), h=0.25, T=10)
    momenta = true.v * np.sqrt(1 + true.q[:, 1:] ** 2) ** [1, -1]  # N M v
    gap = np.concatenate([p[-1] - momenta[-1], r[-1] - true.q[-1]])
    assert np.linalg.norm(gap) == pytest.approx(far, rel=0.03)


def test_the_correction_is_for_the_energy_of_the_start():
    new = nh.invariant_measure(PARTICLE).hamiltonise()
    with pytest.raises(ValueError, match="give E or h"):
        new.at_energy(2.5, h=0.1)


COMPARED = {"DLA": nh.DLA(), "RDLA": nh.RDLA(), "EDLA": nh.EDLA(), "REDLA": nh.REDLA()}
COMPARED |= {"new time": nh.Variational(), "one energy": nh.Variational()}


def long_run(full, name, h=0.2, steps=20_000):
    """A run of a method by its name, the times of its nodes, and the energies of its steps."""
    reduction = nh.Chaplygin(full, fibre="z")
    new = nh.invariant_measure(reduction).hamiltonise()
    system = {"DLA": full, "EDLA": full, "new time": new.system, "one energy": new.at_energy()}
    sol = nh.integrate(system.get(name, reduction), COMPARED[name], h=h, steps=steps)
    if name == "one energy":  # its own energy is N (H - E)
        return sol, sol.t, reduction.energy(*midpoints(sol, sol.t))
    return sol, new.time(sol) if name == "new time" else sol.t, sol.energy("midpoints")


def band_and_gain(t, E):
    """What the straight line through E gains over the run, and the band about it."""
    slope = nh.diagnostics.drift(t[1:], E)[0]
    return np.ptp(E - slope * t[1:]), slope * (t[-1] - t[0])


@pytest.mark.slow
def test_the_new_time_beside_the_other_methods_over_20_000_steps():
    """The table of lesson 11 in depth: band and gain of the energy, E = 2.5 and 2.2."""
    said = {
        ("particle", "DLA"): (0.0153, 0),
        ("particle", "RDLA"): (0.0153, 0),
        ("particle", "EDLA"): (0, 0),
        ("particle", "REDLA"): (0, 0),
        ("particle", "new time"): (0.0321, 0),
        ("particle", "one energy"): (0.0421, 0),
        ("geared", "DLA"): (0.083, -0.075),
        ("geared", "RDLA"): (0.083, -0.075),
        ("geared", "new time"): (0.222, 0),
        ("geared", "one energy"): (0.169, 0),
    }
    for (problem, name), (band, gain) in said.items():
        full = nh.systems.particle() if problem == "particle" else geared(0.2)
        _, t, E = long_run(full, name)
        found = band_and_gain(t, E)
        assert found[0] == pytest.approx(band, rel=0.02, abs=1e-13), (problem, name)
        assert found[1] == pytest.approx(gain, rel=0.02, abs=2e-5), (problem, name)


@pytest.mark.parametrize("name", ["EDLA", "REDLA"])
def test_exact_energy_finds_no_step_on_the_geared_particle(name):
    for h, most in ((0.2, 1), (0.1, 2)):
        with pytest.raises(nh.IntegrationError, match="no positive step exists") as stopped:
            long_run(geared(0.2), name, h, 100)
        assert stopped.value.trajectory.steps <= most


def test_exact_energy_does_not_hold_the_second_integral():
    """vy^2/2 + y^2 of the particle: DLA keeps a neighbour of it to round-off, in the new time it
    has no drift, and with EDLA it wanders, as the size of the steps does."""
    gains = {}
    for name in ("RDLA", "EDLA", "new time", "one energy"):
        sol, t, _ = long_run(nh.systems.particle(), name)
        q, v = midpoints(sol, t)
        gains[name] = abs(band_and_gain(t, v[:, 1] ** 2 / 2 + q[:, 1] ** 2)[1])
    assert gains["RDLA"] < 1e-10
    assert max(gains["new time"], gains["one energy"]) < 2e-5
    assert 1e-3 < gains["EDLA"] < 2e-2


def test_bad_input():
    with pytest.raises(ValueError, match="is no nh"):
        nh.invariant_measure(nh.systems.particle())
    damped = nh.systems.particle().replace(forces=[-vx, 0, 0])
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
