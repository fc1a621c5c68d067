"""DOP853 written out for one system: the text that CPython runs and numba compiles.

The method, its error estimate, its choice of steps and its dense output are SciPy's (Hairer,
Norsett & Wanner, Solving ODEs I, section II.10), with SciPy's coefficients.  Written out beside
the generated equations of motion it takes a ninth of the time of SciPy calling them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..codegen.program import Program
from ..mechanics.system import System

STATE = 4  # numbers in a state before y: time, size of the next step, whether one was just
# rejected (the next may not grow), and how many tiny steps were taken in a row
SOLVED, SINGULAR, STUCK = 0, 1, 2  # how a loop ends

LOOP = """
def {name}(state, grid, out, n, count, end, final, rtol, least, {atol}{par}):
    t, size, rejected, tiny, {y}t_old, size_old, rejected_old, _, {y_old} = {state}
    good, _, {k0}{lam} = step(t, 0.0, {y}{par})
    ended = 0 if good else 1
    while count > 0 and t < end and ended == 0:
        t_new = t + size
        if final and t_new > end:
            t_new = end
        h = t_new - t
        if not t + 0.1*h > t:
            ended = 1
            break
        {stages}
        if not good:
            ended = 1
            break
        {error}
        if not error < 1.0:
            size = h*max(0.2, 0.9*pow(error, -0.125)) if error < inf else 0.2*h
            rejected = 1.0
            continue
        if n < len(grid) and grid[n] <= t_new:
            {extra}
            if not good:
                ended = 1
                break
            {dense}
            while n < len(grid) and grid[n] <= t_new:
                x = (grid[n] - t)/h
                {row}
                {store}
                n += 1
        factor = min(10.0, 0.9*pow(error, -0.125)) if error > 0.0 else 10.0
        tiny = tiny + 1.0 if h < least else 0.0
        t_old, size_old, rejected_old = t, size, rejected
        {y_old} = {y}
        t, size = t_new, h*(min(1.0, factor) if rejected else factor)
        rejected = 0.0
        {y} = {new}
        {k0} = {k_last}
        count -= 1
        if tiny > 50.0:
            ended = 2
    {state_new}
    return n, count, ended
"""


class Dop853(Program):
    """The program of one system: ``loop`` for lists and ``run``, the same for arrays.

    Both take (state, grid, out, n, count, end, final, rtol, least, *atol, *parameters): from
    ``state`` they take at most ``count`` steps, until t reaches ``end``, not beyond it if
    ``final``, and write the states at the times ``grid[n:]`` that they pass into ``out``.  They
    return (n, the count left, how it ended); the state behind the first half of ``state`` is the
    one where the last step began.
    """

    inlines_step = False  # 16 copies of the equations of motion would take long to compile

    def __init__(self, system: System) -> None:
        self.motion = system.motion.program
        self.size = len(system.q) + len(system.v)
        self.m, self.parameters = system.motion.extra, len(system.parameters)
        super().__init__(f"dop853 {self.motion.name}", lambda: self.motion.statement)

    @cached_property
    def text(self) -> str:
        return "\n\n".join([self.motion.text, *map(self._function, ("loop", "run"))])

    def _function(self, name: str) -> str:
        from scipy.integrate import DOP853

        every = range(self.size)
        y, new, par = self._listed("y{}"), self._listed("new{}"), self._numbered("par{}, ")
        is_list = name == "loop"
        width = 2 * (STATE + self.size)
        places = {"state": "state", "name": name, "par": par, "new": new}
        values = ["t", "size", "rejected", "tiny", *(f"y{j}" for j in every)]
        values += ["t_old", "size_old", "rejected_old", "tiny", *(f"old{j}" for j in every)]
        if is_list:
            store, after = (
                [f"out += ({self._listed('r{}')})"],
                [f"state[:] = ({', '.join(values)},)"],
            )
        else:
            store = [f"out[n, {j}] = r{j}" for j in every]
            after = [f"state[{k}] = {x}" for k, x in enumerate(values)]
            places["state"] = ", ".join(f"state[{k}]" for k in range(width))
        last = len(DOP853.C)
        extra = zip(range(last + 1, last + 4), DOP853.C_EXTRA, DOP853.A_EXTRA, strict=True)
        parts = {
            "stages": self._stages(DOP853, par),
            "error": self._error(DOP853),
            "extra": [self._slope(i, c, row, par) for i, c, row in extra],
            "dense": self._dense(DOP853.D),
            "row": [f"r{j} = {self._polynomial(j)}" for j in every],
            "store": store,
            "state_new": after,
        }
        deep = {"row": 16, "store": 16, "extra": 12, "dense": 12, "state_new": 4}
        text = {k: ("\n" + " " * deep.get(k, 8)).join(x) for k, x in parts.items()}
        lists = {"y": y, "y_old": self._listed("old{}"), "atol": self._listed("atol{}")}
        lists |= {"k0": self._listed("k0_{}"), "k_last": self._listed(f"k{last}_{{}}")}
        lists["lam"] = "_, " * self.m
        return LOOP.format(**places, **text, **lists)

    def _listed(self, form: str) -> str:
        return "".join(form.format(j) + ", " for j in range(self.size))

    def _numbered(self, form: str) -> str:
        return "".join(form.format(j) for j in range(self.parameters))

    def _slope(self, i: int, c: float, row: np.ndarray, par: str) -> str:
        """The line of stage i: the equations of motion at t + c h."""
        place = "".join(f"y{j} + h*({_weighted(row, i, j)}), " for j in range(self.size))
        slopes = "".join(f"k{i}_{j}, " for j in range(self.size)) + "_, " * self.m
        line = f"ok, _, {slopes}= step(t + {float(c)!r}*h, 0.0, {place}{par})"
        return f"{line}; good = good and ok"

    def _stages(self, method: Any, par: str) -> list[str]:
        """The twelve stages, the new state and the slope there."""
        lines, last = ["good = True"], len(method.C)
        for i in range(1, last):
            lines.append(self._slope(i, method.C[i], method.A[i], par))
        weighted = (_weighted(method.B, last, j) for j in range(self.size))
        lines += [f"new{j} = y{j} + h*({sum_})" for j, sum_ in enumerate(weighted)]
        slopes = "".join(f"k{last}_{j}, " for j in range(self.size)) + "_, " * self.m
        lines.append(f"ok, _, {slopes}= step(t_new, 0.0, {self._listed('new{}')}{par})")
        return [*lines, "good = good and ok"]

    def _error(self, method: Any) -> list[str]:
        """The estimate of order 5 damped by that of order 3, beside what is allowed."""
        every, lines = range(self.size), []
        lines += [f"s{j} = atol{j} + rtol*max(fabs(y{j}), fabs(new{j}))" for j in every]
        for name, E in (("e5", method.E5), ("e3", method.E3)):
            lines += [f"{name}_{j} = ({_weighted(E, len(E), j)})/s{j}" for j in every]
            lines.append(f"{name} = {' + '.join(f'{name}_{j}*{name}_{j}' for j in every)}")
        root = f"sqrt((e5 + 0.01*e3)*{self.size})"
        return [*lines, f"error = h*e5/{root} if e5 + e3 != 0.0 else 0.0"]

    def _dense(self, D: np.ndarray) -> list[str]:
        """The seven coefficients of the polynomial of a step, for each entry of the state."""
        last, lines = 12, []
        for j in range(self.size):
            lines.append(f"c0_{j} = new{j} - y{j}")
            lines.append(f"c1_{j} = h*k0_{j} - c0_{j}")
            lines.append(f"c2_{j} = 2.0*c0_{j} - h*(k{last}_{j} + k0_{j})")
            lines += [f"c{3 + i}_{j} = h*({_weighted(row, 16, j)})" for i, row in enumerate(D)]
        return lines

    @staticmethod
    def _polynomial(j: int) -> str:
        text = f"c6_{j}*x"
        for i in range(5, -1, -1):
            text = f"({text} + c{i}_{j})*{'x' if i % 2 == 0 else '(1.0 - x)'}"
        return f"y{j} + {text}"


def _weighted(weights: Sequence[float] | np.ndarray, count: int, j: int) -> str:
    """The text of a weighted sum of slopes."""
    return " + ".join(f"{float(w)!r}*k{i}_{j}" for i, w in enumerate(weights[:count]) if w)
