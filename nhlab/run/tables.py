"""Runs as tables: columns by name, pandas, xarray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np

from ..mechanics.spelling import nearest
from .errors import require

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from .ensemble import Ensemble
    from .trajectory import Trajectory


def column(sol: Trajectory, name: str) -> np.ndarray:
    """One column by name, shape (N+1,): "t", a coordinate, a velocity, or as in to_dataframe.

    Momenta are called p_x, multipliers lam0, quasi-velocities u1, inputs by their names; of what
    belongs to steps, as h and lam0, the first entry is NaN.

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, steps=10)
    >>> bool((sol["x"] == sol.q[:, 0]).all()), sol["vx"].shape
    (True, (11,))
    """
    name, found = getattr(name, "name", name), columns(sol)
    if not isinstance(name, str):
        raise TypeError(f"columns of a run have names, as in sol['x'], not {name!r}; see sol.q")
    if name not in found:
        hint = nearest(name, found) or f"; there are {list(found)}"
        raise KeyError(f"this run has no column {name!r}{hint}")
    return found[name]()


def columns(sol: Trajectory) -> dict:
    """name -> function that makes the column, in the order of a table."""
    s, first = sol.system, [np.nan]  # the first row has no step behind it
    data = {str(x): lambda k=k: sol.q[:, k] for k, x in enumerate(s.q)}
    data |= {str(x): lambda k=k: sol.v[:, k] for k, x in enumerate(s.v)}
    more = {"t": lambda: sol.t}
    more |= {f"p_{x}": lambda k=k: sol.p[:, k] for k, x in enumerate(s.degrees)}
    more["h"] = lambda: np.concatenate([first, sol.h])
    more |= {
        f"lam{k}": lambda k=k: np.concatenate([first, sol.lam[:, k]]) for k in range(sol.system.m)
    }
    more |= {f"u{k + 1}": lambda k=k: sol.u[:, k] for k in range(len(s.fields))}
    more |= {name: lambda x=x: x for name, x in sol.inputs.items()}
    more = {f"step_{k}" if k in data else k: f for k, f in more.items()}
    time = next(iter(more))
    return {time: more.pop(time), **data, **more}


def to_dataframe(sol: Trajectory) -> pd.DataFrame:
    """A pandas DataFrame: t, the coordinates, velocities, momenta, and per step h, lam and inputs.

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, steps=10)
    >>> sol.to_dataframe().columns[:4].tolist()
    ['t', 'x', 'y', 'z']
    """
    pd = require("pandas", "to_dataframe", extra="lab")
    return pd.DataFrame({name: make() for name, make in columns(sol).items()})


def to_xarray(sol: Trajectory, units: Mapping[str, str] | None = None) -> xr.Dataset:
    """An xarray Dataset over t with the columns of ``to_dataframe``; its attributes say what ran.

    The attributes are ``system``, ``method``, ``h``, ``parameters`` and nhlab's ``version``.
    units : column -> unit, as {"t": "s", "x": "m"}, for the attribute ``units`` of the columns
    """
    xr = require("xarray", "to_xarray")
    data = {name: make() for name, make in columns(sol).items()}
    time, about = next(iter(data)), _units(units, data)
    return xr.Dataset(
        {name: ((time,), x, about.get(name)) for name, x in data.items() if name != time},
        coords={time: ((time,), data[time], about.get(time))},
        attrs=attributes(sol.system, sol.method) | {"h": sol.h0},
    )


def _units(units: Mapping[str, str] | None, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """name -> attributes of its variable, for the names that were given a unit."""
    for name in units or {}:
        if name not in names:
            raise ValueError(f"units: there is no column {name!r}{nearest(name, names)}")
    return {name: {"units": unit} for name, unit in (units or {}).items()}


def ensemble_to_dataframe(many: Ensemble) -> pd.DataFrame:
    """A pandas DataFrame of all runs below each other, with ``member`` and the varied parameters.

    Where only summaries were kept, a row for each member; of an array in a summary, a column for
    each entry.

    Examples
    --------
    >>> import nhlab as nh
    >>> options = {"h": 0.1, "steps": 10, "parameters": {"g": [1, 2]}}
    >>> many = nh.ensemble(nh.systems.pendulum(), nh.DLA(), **options)
    >>> many.to_dataframe().groupby("member")["g"].max().tolist()
    [1.0, 2.0]
    """
    pd = require("pandas", "to_dataframe", extra="lab")
    if many.rows is None:
        return pd.DataFrame({"member": np.arange(len(many))} | many.parameters | _summaries(many))
    tables = []
    for k in range(len(many)):
        table = to_dataframe(many[k])
        table.insert(0, "member", k)
        for name, x in many.parameters.items():
            table[name] = x[k]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _summaries(many: Ensemble) -> dict[str, np.ndarray]:
    """name -> (K,) numbers of the summaries."""
    summary, found = many.summary, {}
    for name, x in (summary if isinstance(summary, dict) else {"summary": summary}).items():
        flat = np.reshape(x, (len(many), -1))
        more = [""] if np.ndim(x) == 1 else [f"_{k}" for k in range(flat.shape[1])]
        found |= {f"{name}{ending}": flat[:, k] for k, ending in enumerate(more)}
    return found


def ensemble_to_xarray(many: Ensemble, units: Mapping[str, str] | None = None) -> xr.Dataset:
    """An xarray Dataset over (member, node) with t, the coordinates and the momenta.

    units : column -> unit, as in ``Trajectory.to_xarray``
    """
    xr = require("xarray", "to_xarray")
    over, s = ("member", "node"), many.system
    data = {"t": (over, many.t)}
    data |= {x.name: (over, many.q[..., k]) for k, x in enumerate(s.q)}
    data |= {f"p_{x}": (over, many.p[..., k]) for k, x in enumerate(s.degrees)}
    about = _units(units, data)
    data = {name: (*x, about.get(name)) for name, x in data.items()}
    coordinates = {"member": np.arange(len(many)), "h": ("member", many.h)}
    coordinates |= {name: ("member", x) for name, x in many.parameters.items()}
    return xr.Dataset(data, coords=coordinates, attrs=attributes(s, many.method))


def attributes(system, method) -> dict[str, str]:
    """What was run, in words."""
    try:
        own = version("nhlab")
    except PackageNotFoundError:
        own = "unknown"
    numbers = ", ".join(f"{s} = {x:g}" for s, x in system.numbers.items() if np.ndim(x) == 0)
    about = {"system": system.label, "method": repr(method)}
    return about | {"parameters": numbers, "version": f"nhlab {own}"}
