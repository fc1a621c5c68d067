"""The comparison of lesson 08: its instruments on known input, and the stored data."""

import numpy as np
import pytest
from lesson_cells import defined

import nhlab as nh
from nhlab.course import comparison as c

T = np.arange(20_000) * 0.1


def series(kind, K, rng):
    """K series of one kind, each with an oscillation on top."""
    wave = np.sin(2 * T + rng.uniform(0, 6, (K, 1)))
    return {
        "bounded": wave + 0.2 * np.sin(0.07 * T),
        "random walk": wave + 0.05 * np.cumsum(rng.normal(size=(K, len(T))), 1),
        "drift": wave + 1e-3 * rng.normal(size=(K, 1)) * T,
        "exact": 1e-14 * wave,
    }[kind]


# ---------------------------------------------------------------------------- growth


@pytest.mark.parametrize("K", [8, 12])
@pytest.mark.parametrize("kind", ["bounded", "random walk", "drift", "exact"])
def test_growth_tells_the_kinds_apart(kind, K):
    rng = np.random.default_rng(5)
    found = [nh.diagnostics.growth(T, series(kind, K, rng)) for _ in range(6)]
    kinds = [f.kind for f in found]
    assert set(kinds) <= {kind, "undecided"}  # never another kind
    assert kinds.count(kind) >= (6 if kind != "random walk" else 4)
    if kind == "random walk":
        assert np.mean([f.exponent for f in found]) == pytest.approx(0.5, abs=0.08)


def test_a_wave_is_bounded_at_nearly_every_frequency():
    """The blocks see a wave as 1 - cos(a l), which a line of any slope may be fitted to: at 2.1
    that of a drift.  A wave that the blocks slow down to less than a period cannot be told."""
    rng, kinds = np.random.default_rng(8), []
    for frequency in np.linspace(0.5, 6, 60):
        wave = np.sin(frequency * T + rng.uniform(0, 6, (10, 1)))
        kinds.append(nh.diagnostics.growth(T, wave, resamples=20).kind)
    assert kinds.count("bounded") >= 56
    steep = nh.diagnostics.growth(T, np.sin(2.1 * T + rng.uniform(0, 6, (10, 1))))
    assert steep.exponent > 1 and steep.error < 0.01 and steep.kind == "bounded"


def test_the_exponent_of_a_wave_is_a_matter_of_its_phase_from_block_to_block():
    """Why the lesson's wave has gamma = -0.30 +- 0.01."""
    rng = np.random.default_rng(0)
    found = nh.diagnostics.growth(T, np.sin(2 * T + rng.uniform(0, 6, (10, 1))))
    phase, use = 2 * 0.1 * (len(T) // 128), found.lags >= 8
    predicted = np.polyfit(np.log(found.lags[use]), np.log(1 - np.cos(phase * found.lags[use])), 1)
    assert found.exponent == pytest.approx(predicted[0] / 2, abs=0.01)
    assert found.exponent == pytest.approx(-0.30, abs=0.01) and found.error < 0.01


def test_the_uncertainty_of_the_exponent_is_that_of_repetition():
    rng = np.random.default_rng(6)
    found = [nh.diagnostics.growth(T, series("random walk", 10, rng)) for _ in range(15)]
    spread = np.std([f.exponent for f in found])
    assert 0.5 < np.mean([f.error for f in found]) / spread < 2


def test_growth_gives_the_slope_of_a_drift_and_not_of_a_walk():
    rng = np.random.default_rng(7)
    drift = nh.diagnostics.growth(T, series("bounded", 10, rng) + 3e-4 * T)
    assert abs(drift.slope - 3e-4) < 3 * drift.slope_error + 1e-5
    walk = nh.diagnostics.growth(T, series("random walk", 10, rng))
    assert abs(walk.slope) < 4 * walk.slope_error
    slowing = nh.diagnostics.growth(T, series("bounded", 10, rng) + 3 * np.tanh(T / 400))
    assert slowing.kind == "drift" and 0.25 < slowing.exponent < 0.75


def test_growth_refuses_bad_input():
    bad = {"NaN": T * np.nan, "times": T[1:], "at least 8 runs": np.stack([T] * 7)}
    for words, x in bad.items():
        with pytest.raises(ValueError, match=words):
            nh.diagnostics.growth(T, x)
    with pytest.raises(ValueError, match="16 times"):
        nh.diagnostics.growth(T[:15], np.stack([T[:15]] * 10))


# ---------------------------------------------------------------------------- the problems


def test_starts_are_admissible_and_those_of_the_literature():
    for name, p in c.problems().items():
        A = p.system.A(p.q0)
        assert np.abs(np.einsum("kai,ki->ka", A, p.v0)).max() < 1e-14, name
        assert p.q0.shape[0] == p.v0.shape[0] == (160 if name == "quartic" else 10)
    q, v = c.contact_starts()
    H = (q**2 + v**2).sum(1) / 2
    assert H == pytest.approx(1.5) and (q[:, 1] ** 2 + v[:, 1] ** 2) / 2 == pytest.approx(0.5)
    assert q[[0, -1], 2] == pytest.approx([-0.9 * np.sqrt(2), 0.9 * np.sqrt(2)])
    q, v = c.quartic_starts()
    assert np.allclose(q[:, 0] ** 2 + v[:, 1] ** 2, 1) and np.allclose(q[:, 1:4], [0.6, 0.4, 0.2])
    E = nh.systems.quartic().energy(q, v)
    assert np.ptp(E) < 1e-14 and f"energy {E[0]:.2f}," in c.quartic_starts.__doc__


def test_leapfrog_closes_after_N_steps_of_the_step_named_after_it():
    x, vx = nh.symbols("x vx")
    oscillator = nh.System((x,), (vx,), vx**2 / 2 - x**2 / 2)
    for N in (40, 15):
        h = c.leapfrog_step(N)
        ways, run = (nh.Reversible(), nh.Variational()), {"q0": [0.3], "v0": [1.0], "h": h}
        leapfrog, midpoint = (nh.integrate(oscillator, m, **run, steps=N).q[-1, 0] for m in ways)
        assert abs(leapfrog - 0.3) < 1e-13 < 1e-3 < abs(midpoint - 0.3)


# ---------------------------------------------------------------------------- the instruments


def test_there_and_back_finds_the_reversible_methods_and_the_irreversible_system():
    p, odd = c.problems()["contact, N=15"], c.problems()["non-reversible"]
    start = (p.q0[4], p.v0[4], 0.2, 50)
    ways = {name: m for name, m in c.METHODS.items() if name != "EDLA"}
    back = {k for k, m in ways.items() if c.there_and_back(p.system, m, *start) < 1e-12}
    assert back == ways.keys() - {"RK4"}
    back = {k for k, m in ways.items() if c.there_and_back(odd.system, m, *start) < 1e-12}
    assert back == {"DiscreteGradient"}


def test_the_transmission_drifts_by_dla_and_not_by_the_projector():
    p, kinds, slope = c.problems()["transmission, eps=.2"], {}, {}
    for name in ("DLA", "Projector"):
        means, share = c.long_energy(p, c.METHODS[name], 3200)
        found = c.energy_growth(p, means, 3200)
        kinds[name], slope[name] = c.verdict(p, means, found), abs(found.slope)
        assert share == 1
    assert kinds == {"DLA": "drift", "Projector": "bounded"}
    assert slope["DLA"] > 50 * slope["Projector"]


def test_verdicts_of_runs_that_stop_or_explode():
    p = c.problems()["transmission, eps=.2"]
    means, share = c.long_energy(p, nh.EDLA(), 640)
    assert share < 0.9 and c.verdict(p, means, c.energy_growth(p, means, 640)) == "stops"
    wild = np.geomspace(1, 1e9, 128) * np.ones((10, 1))
    assert c.verdict(p, wild, c.energy_growth(p, wild)) == "lost"


def test_scipy_and_the_fixed_steps_reach_the_same_point():
    system, q0, v0, _ = c.problems()["particle"]
    true = nh.integrate(system, nh.Reference(), q0[4], v0[4], h=5, steps=1).q[-1]
    for name in c.SCIPY:
        q = c.by_scipy(system, name, q0[4], v0[4], 5.0, 1e-8)
        assert np.abs(q - true).max() < 1e-5
    loose = c.by_scipy(system, "RK45", q0[4], v0[4], 5.0, 1e-2)
    assert np.abs(loose - true).max() > 1e-4


def test_atlas_is_ensemble_of_the_transmission():
    drift, done = c.atlas(nh.DLA(), 0.2, 4, 100, backend="numpy")
    assert drift.shape == done.shape == (4, 4) and (done == 100).all()
    vy, vz, q0, v0 = c.atlas_starts(4)
    run = {"h": 0.2, "steps": 100, "every": 10}
    one = nh.integrate(nh.systems.transmission(), nh.DLA(), q0[6], v0[6], **run)
    slope = np.polyfit(one.t, one.energy(), 1)[0]
    assert v0[6] == pytest.approx([0, vy[2], vz[1]])
    assert drift[1, 2] == pytest.approx(np.log10(abs(slope)), abs=1e-6)
    assert (c.atlas(nh.EDLA(), 0.2, 4, 100, backend="numpy")[1] < 100).any()


def test_stored_numbers_have_four_digits_and_no_round_off():
    x = np.array([1.23456, -9.87654e-7, 3e-13, 0.0, np.nan])
    assert c._tidy(x, 1e-9).tolist()[:4] == pytest.approx([1.235, -9.877e-7, 0, 0], rel=1e-12)
    assert c._tidy(x, 0.0)[2] == pytest.approx(3e-13) and np.isnan(c._tidy(x, 0.0)[4])


# ---------------------------------------------------------------------------- the data


@pytest.fixture(scope="module")
def data():
    return c.load()


def test_data_are_small_and_complete(data):
    assert sum(f.stat().st_size for f in c.DATA.iterdir()) < 1_000_000
    assert data["problems"].tolist() == list(c.problems())
    assert data["methods"].tolist() == list(c.METHODS)
    assert data["means"].shape == (len(c.problems()), len(c.METHODS), 10, c.STORED)
    assert len(data["work_seconds"]) == len(data["work_error"]) and data["work_seconds"].min() > 0
    size = len(data["atlas_vy"])
    assert data["atlas_EDLA"].shape == data["atlas_DLA"].shape == (len(c.ATLAS_H), size, size)
    assert size == 100


def entry(data, key, problem, method):
    return data[key][list(c.problems()).index(problem), list(c.METHODS).index(method)]


@pytest.mark.parametrize("name", ["disk", "sleigh", "particle", "robot"])
def test_data_are_those_of_the_present_methods(data, name):
    for way, method in c.METHODS.items():
        now, stored = c.short_run(c.problems()[name], method), entry(data, "error", name, way)
        assert now["error"] == pytest.approx(stored, rel=1e-3, abs=1e-9, nan_ok=True), method


def test_long_runs_are_those_of_the_present_methods(data):
    pytest.importorskip("numba")
    name, way = "transmission, eps=.2", "DLA"
    means, _ = c.long_energy(c.problems()[name], c.METHODS[way])
    early, stored = means.reshape(10, c.STORED, -1).mean(-1), entry(data, "means", name, way)
    assert np.abs(early - stored)[:, :8].max() < 1e-4 * np.abs(stored).max()


def test_what_the_lesson_says_of_the_data(data):
    assert set(data["kind"][:, list(c.METHODS).index("DiscreteGradient")]) <= {
        "exact",
        "not for it",
    }
    walks = ("DLA", "Projector", "Reversible", "Composition 4")
    told = [("quartic", method, "random walk") for method in walks]
    told += [("quartic", "RK4", "drift"), ("transmission, eps=.2", "Projector", "bounded")]
    told += [("particle", method, "undecided") for method in ("Reversible", "Composition 4")]
    told += [("transmission, eps=.2", "DLA", "drift"), ("transmission, eps=0", "DLA", "bounded")]
    told += [("non-reversible", "DLA", "drift"), ("contact, N=40", "DLA", "bounded")]
    for problem, method, kind in told:
        assert entry(data, "kind", problem, method) == kind


def test_the_rule_that_the_lesson_states_gives_every_verdict(data):
    kind, shown = data["kind"], defined("08b", "def by_rule")
    for i, j in np.ndindex(kind.shape):
        assert shown["by_rule"](data, i, j) == kind[i, j]
    assert set(kind.ravel()) == {*shown["VERDICTS"]}  # each word of the rule is used


def test_verdicts_on_the_chaotic_problem_have_room_for_other_roundings(data):
    """Of two sets of 160 runs gamma differs by about its error, and the slope by its error."""
    for method in ("DLA", "Projector", "Reversible", "Composition 4", "RK4"):
        gamma, error = (
            entry(data, key, "quartic", method) for key in ("exponent", "exponent_error")
        )
        assert 0.25 < gamma - 5 * error and gamma + 5 * error < 0.75, method
        slope, wide = (entry(data, key, "quartic", method) for key in ("slope", "slope_error"))
        assert abs(slope) < 3 * wide or abs(slope) > 7 * wide, method


def test_the_machine_that_wears_out_loses_what_its_oscillators_had(data):
    end = {m: entry(data, "means", "transmission, eps=.2", m)[:, -1] for m in ("DLA", "Projector")}
    had = c.problems()["transmission, eps=.2"].v0[:, 2] ** 2 / 2
    assert end["DLA"] - end["Projector"] == pytest.approx(-had, rel=0.02)


def test_parts_of_the_data_are_measured_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"no such part: \['energi'\]; choose from energy, atlas"):
        c.main(["energi"], tmp_path)
