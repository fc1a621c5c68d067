"""Runs as tables: columns by name, pandas, xarray."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.checks import brief
from ..mechanics.spelling import nearest
from .dense import State, state_at, times_of
from .errors import require

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from ..mechanics.system import System
    from ..methods.method import Method
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
    name, table = getattr(name, "name", name), columns(sol)
    if not isinstance(name, str):
        raise TypeError(f"columns of a run have names, as in sol['x'], not {name!r}; see sol.q")
    if name not in table:
        raise KeyError(f"this run has no column {name!r}{_hint(sol, name, table)}")
    return table[name]()


def _hint(sol: Trajectory, name: str, names: Iterable[str]) -> str:
    """What may be meant by a name that is no column: an attribute, or the most similar name."""
    if not name.startswith("_") and hasattr(type(sol), name):
        call = "()" if callable(getattr(type(sol), name)) else ""
        return f"; there is sol.{name}{call}"
    return nearest(name, names) or f"; there are {list(names)}"


def column_at(sol: Trajectory, name: str, t: ArrayLike) -> np.ndarray:
    """One column at any times t within the run, by the names that ``sol[...]`` knows.

    Coordinates and velocities are those of ``sol(t)``; momenta p_x and quasi-velocities u1 belong
    to these.  What belongs to steps, as h, lam0 and inputs, is that of the step that t lies in, of
    a node the step that arrives there.

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, T=1)
    >>> sol.at("x", sol.t[3]) == sol["x"][3], sol.at("p_x", 0.55) == sol.at("vx", 0.55)
    (np.True_, np.True_)
    """
    name = getattr(name, "name", name)
    if not isinstance(name, str):
        raise ValueError(f"name = {brief(name)} is no name of a column; write sol.at('x', t)")
    place = Between(sol, times_of(sol, t))
    table = columns(sol, place, lambda x: x[place.node])
    if name not in table:
        raise ValueError(f"name = {name!r} is no column{_hint(sol, name, table)}")
    return table[name]()


class Between:
    """What a run is at times t, of any shape: ``q``, ``v``, ``p``, ``u``.

    ``node`` : the nodes at which the steps arrive that the times lie in
    """

    def __init__(self, sol: Trajectory, t: np.ndarray) -> None:
        self.sol, self.t = sol, t
        self.node = np.searchsorted(sol.t, t).clip(max=len(sol) - 1)

    @cached_property
    def state(self) -> State:
        return state_at(self.sol, self.t)

    @property
    def q(self) -> np.ndarray:
        return self.state.q

    @property
    def v(self) -> np.ndarray:
        return self.state.v

    @property
    def p(self) -> np.ndarray:
        return self.sol.system.momentum(*self.state, self.t)

    @property
    def u(self) -> np.ndarray:
        return self.sol.system.u(*self.state, self.t)


def columns(
    sol: Trajectory, place: Any = None, of_step: Callable[[Any], Any] = lambda x: x
) -> dict[str, Callable[[], np.ndarray]]:
    """name -> function that makes the column, in the order of a table.

    place : what has q, v, p, u and t, if not the run;  of_step : picks from a column of steps
    """
    s, first, place = sol.system, [np.nan], place or sol  # the first row has no step behind it

    def each(part: str, names: Iterable[object]) -> Any:
        return {f"{x}": lambda k=k: getattr(place, part)[..., k] for k, x in enumerate(names)}

    data = each("q", s.q) | each("v", s.v)
    more = {"t": lambda: place.t} | each("p", [f"p_{x}" for x in s.degrees])
    more["h"] = lambda: of_step(np.concatenate([first, sol.h]))
    more |= {
        f"lam{k}": lambda k=k: of_step(np.concatenate([first, sol.lam[:, k]])) for k in range(s.m)
    }
    more |= each("u", [f"u{k + 1}" for k in range(len(s.fields))])
    more |= {name: lambda x=x: of_step(x) for name, x in sol.inputs.items()}
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
    xr = require("xarray", "to_xarray", extra="lab")
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


def column_of_all(many: Ensemble, name: str) -> np.ndarray:
    """One column of all runs by name, shape (K, N+1), as of a run; NaN where one had stopped."""
    name = getattr(name, "name", name)
    if name in (data := _data(many)):
        return data[name]
    values = np.full(many.rows.shape[:2], np.nan)
    for k in range(len(many)):
        column = many[k][name]
        values[k, : len(column)] = column
    return values


def _data(many: Ensemble) -> dict[str, np.ndarray]:
    """name -> (K, N+1): time, coordinates and momenta."""
    data = {"t": many.t} | {x.name: many.q[..., k] for k, x in enumerate(many.system.q)}
    return data | {f"p_{x}": many.p[..., k] for k, x in enumerate(many.system.degrees)}


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
    summary, table = many.summary, {}
    for name, x in (summary if isinstance(summary, dict) else {"summary": summary}).items():
        flat = np.reshape(x, (len(many), -1))
        more = [""] if np.ndim(x) == 1 else [f"_{k}" for k in range(flat.shape[1])]
        table |= {f"{name}{ending}": flat[:, k] for k, ending in enumerate(more)}
    return table


def ensemble_to_xarray(many: Ensemble, units: Mapping[str, str] | None = None) -> xr.Dataset:
    """An xarray Dataset over (member, node) with t, the coordinates and the momenta.

    units : column -> unit, as in ``Trajectory.to_xarray``
    """
    xr = require("xarray", "to_xarray", extra="lab")
    over, s = ("member", "node"), many.system
    data = _data(many)
    about = _units(units, data)
    data = {name: (over, x, about.get(name)) for name, x in data.items()}
    coordinates = {"member": np.arange(len(many)), "h": ("member", many.h)}
    coordinates |= {name: ("member", x) for name, x in many.parameters.items()}
    return xr.Dataset(data, coords=coordinates, attrs=attributes(s, many.method))


def attributes(system: System, method: Method) -> dict[str, str]:
    """What was run, in words."""
    try:
        own = version("nhlab")
    except PackageNotFoundError:
        own = "unknown"
    numbers = ", ".join(f"{s} = {x:g}" for s, x in system.numbers.items() if np.ndim(x) == 0)
    about = {"system": system.label, "method": repr(method)}
    return about | {"parameters": numbers, "version": f"nhlab {own}"}
