"""Runs in other forms: files of ensembles, tables, what a notebook shows, what the log says."""

import logging

import numpy as np
import pytest
from starts import PARTICLE, run

import nhlab as nh

x, vx = nh.symbols("x vx")
OSCILLATOR = nh.System([x], [vx], vx**2 / 2 - x**2 / 2, q0=[1], v0=[0])


def two(**options):
    given = {"h": 0.1, "steps": 10, "parameters": {"k": [5.0, 10.0]}}
    return nh.ensemble(nh.systems.robot(), nh.DLA(), **given | options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"every": 5, "h": [0.1, 0.2]},
        {"summary": "energy"},
        {"summary": lambda sol: sol.q[-1]},
        {"events": nh.Event(nh.systems.robot().q[2] - 0.45, terminal=True)},
    ],
    ids=["rows", "every", "dict", "array", "events"],
)
def test_an_ensemble_is_saved_and_loaded(options, tmp_path):
    many = two(**options)
    many.save(tmp_path / "many")
    for again in (nh.load(tmp_path / "many"), nh.Ensemble.load(tmp_path / "many.npz")):
        assert repr(again) == repr(many) and again.errors == many.errors
        assert again.jumps == many.jumps and again.system == many.system
        np.testing.assert_array_equal(again.steps_done, many.steps_done)
        np.testing.assert_array_equal(again.parameters["k"], many.parameters["k"])
        if many.rows is not None:
            np.testing.assert_array_equal(again.rows, many.rows)
            assert again[1].message == many[1].message and again[1].ended_by == many[1].ended_by
        summaries = many.summary if isinstance(many.summary, dict) else {None: many.summary}
        for name, value in summaries.items():
            got = again.summary if name is None else again.summary[name]
            np.testing.assert_array_equal(got, value)
        for a, b in zip(again.t_events or [], many.t_events or [], strict=True):
            np.testing.assert_array_equal(a[0], b[0])
    with pytest.raises(ValueError, match="is not a trajectory saved by nhlab"):
        nh.Trajectory.load(tmp_path / "many.npz")
    run(steps=2).save(tmp_path / "one")
    with pytest.raises(ValueError, match="is not an ensemble saved by nhlab"):
        nh.Ensemble.load(tmp_path / "one.npz")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        nh.load(tmp_path / "none")


def test_tables_of_ensembles():
    many = two()
    table = many.to_dataframe()
    assert len(table) == 22 and set(table["k"]) == {5.0, 10.0}
    np.testing.assert_array_equal(table[table.member == 1]["psi"], many[1]["psi"])
    table = two(summary=["last", "energy"]).to_dataframe()
    assert list(table.columns[:4]) == ["member", "k", "t", "q_0"] and len(table) == 2


def test_xarray():
    import xarray as xr  # of the extra test: a test that is skipped everywhere shows nothing

    sol = run(steps=5)
    data = sol.to_xarray()
    assert isinstance(data, xr.Dataset) and data.attrs["method"] == "DLA(alpha=0.5)"
    np.testing.assert_array_equal(data["x"], sol["x"])
    assert data.attrs["h"] == 0.1 and "nhlab" in data.attrs["version"]
    assert two().to_xarray()["psi"].shape == (2, 11)
    data = sol.to_xarray(units={"t": "s", "x": "m"})
    assert (data["t"].attrs, data["x"].attrs, data["y"].attrs) == (
        {"units": "s"},
        {"units": "m"},
        {},
    )
    assert two().to_xarray(units={"psi": "rad"})["psi"].attrs == {"units": "rad"}
    with pytest.raises(ValueError, match=r"^units: there is no column 'xx'; did you mean 'x'\?"):
        sol.to_xarray(units={"xx": "m"})


def test_xarray_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    for sol in (run(steps=2), two()):
        with pytest.raises(
            ImportError, match=r"to_xarray needs xarray.*pip install 'nhlab\[lab\]'"
        ):
            sol.to_xarray()


@pytest.mark.parametrize("steps", [0, 1, 700])
def test_what_a_notebook_shows(steps):
    shown = run(steps=steps)._repr_html_()
    assert f"{steps} step{'s' * (steps != 1)}, t = 0 to" in shown and "h = 0.1" in shown
    assert "particle by DLA(alpha=0.5)" in shown
    assert ("<svg" in shown) == (steps > 0) and len(shown) < 20_000 and "nan" not in shown
    assert ("each on a scale of its own" in shown) == (steps > 0)
    assert "every = 7" in run(steps=70, every=7)._repr_html_()
    assert "2 runs of 10 steps, 2 complete" in two()._repr_html_()
    assert "picture: x of the first 2 runs" in two()._repr_html_()
    assert "its summary, E0" in two(summary="energy")._repr_html_()
    assert "m = 1" in nh.integrate(nh.systems.robot(), nh.DLA(), h=0.1, steps=1)._repr_html_()
    own = nh.integrate(nh.systems.kepler(), nh.EDLA(), h=0.05, steps=40)
    assert f"h = {own.h.min():.3g} to {own.h.max():.3g}" in own._repr_html_()
    unnamed = nh.integrate(OSCILLATOR, nh.DLA(), h=0.1, steps=1)
    assert "Trajectory of q = (x) by" in repr(unnamed) and repr(OSCILLATOR) == "<System: q = (x)>"
    bad = nh.System([x], [vx], vx**2 / 2, name="<b>", q0=[0], v0=[1])
    assert "&lt;b&gt;" in nh.integrate(bad, nh.DLA(), h=0.1, steps=1)._repr_html_()


def test_the_log_says_what_happens(caplog, tmp_path, monkeypatch, silent):
    fresh = nh.System([x], [vx], vx**2 / 2 - x**2 / 2 - 0.01234 * x**3)
    with caplog.at_level(logging.DEBUG, "nhlab"):
        nh.integrate(fresh, nh.DLA(), [1], [0], h=0.1, steps=2)
        assert "DLA(alpha=0.5) of q = (x): generating code" in caplog.text
        many = nh.ensemble(nh.systems.sleigh(), nh.EDLA(), [[0, 0, 0]] * 2,
                           nh.systems.sleigh().v0, h=[0.1, 0.1], steps=600)  # fmt: skip
        assert len(many.errors) == 2 and "member 1 stopped after" in caplog.text
        assert "with pivoting" in caplog.text


def test_the_projectors_first_velocity_is_told():
    sol = run(PARTICLE, nh.Projector(), steps=2)
    assert np.abs(sol.v[0] - PARTICLE.v0).max() > 1e-3
    np.testing.assert_allclose(sol.v_projected[0], PARTICLE.v0, atol=1e-15)
    assert "sol.v_projected[0]" in nh.Projector.__doc__
