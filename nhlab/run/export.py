"""Out of nhlab: the equations of motion for SciPy, and a step as a program of its own."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sympy as sp

from ..codegen import c, javascript
from ..codegen.derivatives import jacobian
from ..codegen.evaluate import Function
from ..codegen.statement import dummy
from ..mechanics.checks import need
from ..mechanics.motion import motion_stage
from ..mechanics.system import System
from ..mechanics.velocities import start_of
from ..methods.layout import Rows
from ..methods.method import Method
from .arguments import StateLike
from .start import Start
from .watch import read_events, values

# ---------------------------------------------------------------------------- for SciPy


@dataclass(frozen=True)
class ScipyProblem:
    """The motion of a system for SciPy's ``solve_ivp``, with y = (q, v).

    ``fun(t, y)`` : (q', v');  ``jac(t, y)`` : its derivative by y, exact;  ``y0`` : the system's
    own start, or None;  ``event(zero, ...)`` : an expression in t, q, v as an event of SciPy
    """

    system: System
    y0: np.ndarray | None

    def fun(self, t: float, y: np.ndarray) -> np.ndarray:
        """(q', v') at a state; ValueError where the motion has none."""
        if (wanted := len(self.system.q) + len(self.system.v)) != len(y):
            raise ValueError(f"y has {len(y)} entries; give {wanted}: q, then v")
        return np.array(self.system.motion(float(t), np.asarray(y, float).tolist())[: len(y)])

    def jac(self, t: float, y: np.ndarray) -> np.ndarray:
        """The matrix of derivatives of ``fun`` by y, from differentiated equations."""
        s, y = self.system, np.asarray(y, float)
        k, n, count = len(s.q), len(s.v), len(s.v) + s.motion.extra
        values = np.array(s.motion(float(t), y.tolist()))
        q, v = np.split(y, [k])
        f = s.memoised("jacobian of motion", lambda: _differentiated(s))
        table = f(t, q, v, values[k:], *s.parameters.values())
        by_unknowns, by_state = table[:count, :count], table[:count, count:]
        rows = np.linalg.solve(by_unknowns, -by_state)[:n]
        return np.concatenate([table[count:, count:], rows])

    def event(
        self, zero: sp.Expr, terminal: bool | int = False, direction: float = 0
    ) -> Callable[[float, np.ndarray], float]:
        """An expression in t, q, v and parameters as an event for ``solve_ivp``."""
        (event,) = read_events(zero, self.system, "zero")
        k = len(self.system.q)

        def f(t: float, y: np.ndarray) -> float:
            q, v = np.split(np.asarray(y, float)[None], [k], -1)
            return float(values(event, self.system, np.array([t]), q, v)[0])

        f.terminal, f.direction = terminal, direction
        return f


def _differentiated(s: System) -> Function:
    """(t, q, v, unknowns) -> derivatives of the equations of motion and of q' by unknowns, q, v."""
    time, let = s.t or dummy("t"), []
    stage = motion_stage(s, time, s.q, s.v, let)
    equations = (*stage.equations, *map(sp.sympify, s.rate(s.q, s.v)))
    table, let = jacobian(equations, (*stage.unknowns, *s.q, *s.v), (*s.expressions.let, *let))
    return Function((time, s.q, s.v, tuple(stage.unknowns), *s.parameters), table, let)


def to_scipy(system: System) -> ScipyProblem:
    """The equations of motion of a system for ``scipy.integrate.solve_ivp``.

    Parameters
    ----------
    system : an nh.System

    Returns
    -------
    ScipyProblem with ``fun``, ``jac``, ``y0`` and ``event``; y = (q, v), multipliers eliminated

    Examples
    --------
    >>> import nhlab as nh
    >>> from scipy.integrate import solve_ivp
    >>> pendulum = nh.systems.pendulum()
    >>> problem = nh.to_scipy(pendulum)
    >>> low = problem.event(pendulum.q[0], terminal=True)
    >>> found = solve_ivp(problem.fun, (0, 9), problem.y0, jac=problem.jac, events=low,
    ...                   method="Radau", rtol=1e-9)
    >>> float(found.t[-1].round(4))
    2.0874
    """
    need(system, System, "system", "nh.System")
    y0 = None if system.q0 is None or system.v0 is None else np.concatenate(start_of(system))
    return ScipyProblem(system, y0)


# ---------------------------------------------------------------------------- as a program

PYTHON = '''"""{title}

step(t, h, *state, *arguments) returns (ok, h, *state); where ok is False there is no step.
"""

{step}

NAMES = {names}  # of the state
ARGUMENTS = {arguments}
T, H, DONE = {t}, {h}, {done}
STATE = {state}


def march(steps, t=T, h=H, state=STATE, arguments=ARGUMENTS):
    """Yield (t, *state) after each of so many steps."""
    begin = t
    for n in range(steps):
        ok, h, *state = step(t, h, *state, *arguments)
        if not ok:
            raise ArithmeticError(f"no step from t = {{t}}; take a smaller h")
        t = {clock}
        yield (t, *state)


if __name__ == "__main__":
    import sys

    for row in march(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        print(*map(repr, row))
'''
SCRIPT = """// {title}
// step(t, h, ...state, ...args) returns [ok, h, ...state]; where ok is false there is no step.

{step}

const NAMES = {names};  // of the state
const ARGUMENTS = {arguments};
const T = {t}, H = {h};
const STATE = {state};

// Rows [t, ...state] after each of so many steps.
function march(steps, begin = T, h = H, state = STATE, args = ARGUMENTS) {{
  const rows = [];
  let t = begin;
  for (let n = 0; n < steps; n++) {{
    const found = step(t, h, ...state, ...args);
    if (!found[0]) throw new Error("no step from t = " + t + "; take a smaller h");
    h = found[1];
    state = found.slice(2);
    t = {clock};
    rows.push([t, ...state]);
  }}
  return rows;
}}

if (typeof module !== "undefined") {{
  module.exports = {{step, march, NAMES, ARGUMENTS, STATE, T, H}};
  if (require.main === module)
    for (const row of march(Number(process.argv[2] || 10))) console.log(row.join(" "));
}}
"""
C = """/* {title}
 * nhlab_step returns 1, or 0 where there is no step; then t, h and state are as they were.
 * Try it: cc -O2 -ffp-contract=off THIS_FILE -lm && ./a.out 10 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static inline double sign(double x) {{ return (x > 0) - (x < 0); }}

{step}

#define NHLAB_STATE {count}
#define NHLAB_ARGUMENTS {many}
const char *nhlab_names[] = {{{names}}};  /* of the state */
const double nhlab_arguments[] = {{{arguments}}};
const double nhlab_start[] = {{{state}}};
const double nhlab_t = {t}, nhlab_h = {h};

int nhlab_step(double t, double *h, double *state, const double *args)
{{
    double out[NHLAB_STATE + 2];
    step({call});
    if (!out[0])
        return 0;
    *h = out[1];
    for (int k = 0; k < NHLAB_STATE; k++)
        state[k] = out[k + 2];
    return 1;
}}

#ifndef NHLAB_NO_MAIN
int main(int count, char **words)
{{
    int steps = count > 1 ? atoi(words[1]) : 10;
    double begin = nhlab_t, t = begin, h = nhlab_h, state[NHLAB_STATE];
    for (int k = 0; k < NHLAB_STATE; k++)
        state[k] = nhlab_start[k];
    for (int n = 0; n < steps; n++) {{
        if (!nhlab_step(t, &h, state, nhlab_arguments)) {{
            fprintf(stderr, "no step from t = %g; take a smaller h\\n", t);
            return 1;
        }}
        t = {clock};
        printf("%.17g", t);
        for (int k = 0; k < NHLAB_STATE; k++)
            printf(" %.17g", state[k]);
        printf("\\n");
    }}
    return 0;
}}
#endif
"""


def export(
    system: System,
    method: Method,
    path: str | os.PathLike[str],
    q0: StateLike = None,
    v0: StateLike = None,
    *,
    h: float = 0.01,
    t0: float = 0.0,
    u0: StateLike = None,
) -> Path:
    """Write the generated step of a method for a system as a program that needs nothing else.

    Parameters
    ----------
    path : a file that ends in .py, .c or .js, in which language it is written
    q0, v0, u0, h, t0 : the start that the program has, as in ``nh.integrate``; the step itself
        takes any state and arguments
    system, method : what the step is generated for

    The arguments are numbers: alpha, the parameters of the system, and the sizes of the
    velocities beside each other, which Newton's tolerance is measured by.  The state is that of
    ``sol.rows``: q, then p and v or v alone, and lam; EDLA begins after its first step.

    Returns
    -------
    The path of the file.  Run it with a number of steps: it prints t and the state after each.

    Examples
    --------
    >>> import nhlab as nh, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "step.py")
    >>> path = nh.export(nh.systems.pendulum(), nh.DLA(), path, h=0.1)
    >>> space = {"__name__": "step"}
    >>> exec(path.read_text(), space)
    >>> rows = list(space["march"](3))
    >>> sol = nh.integrate(nh.systems.pendulum(), nh.DLA(), h=0.1, steps=3)
    >>> abs(rows[-1][1] - sol["theta"][-1]) < 1e-15
    np.True_

    >>> path = path.with_suffix(".c")
    >>> "int nhlab_step(" in nh.export(nh.systems.robot(), nh.DLA(), path).read_text()
    True
    """
    need(path, (str, os.PathLike), "path", "path of a file")
    path = Path(path)
    writers = {".py": _python, ".js": _javascript, ".c": _c}
    if path.suffix not in writers:
        raise ValueError(f"path = {str(path)!r} must end in one of {', '.join(writers)}")
    if not getattr(method, "has_step", True):
        raise ValueError(f"{method!r} chooses its steps as it goes; export nh.RK4(), or to_scipy")
    start = Start(system, method, q0, v0, u0=u0, h=h, steps=1, t0=t0)
    path.write_text(writers[path.suffix](start, _about(start)), encoding="utf-8")
    return path


def _about(start: Start) -> dict:
    """What all languages write down: names, numbers, and how time goes on."""
    rows = Rows(start.layout, start.state[0])
    t, h = map(float, rows.clock(start.t0, start.h.item()))
    (step,) = (
        x
        for x in ast.parse(start.program.text).body
        if isinstance(x, ast.FunctionDef) and x.name == "step"
    )
    names = [x.arg for x in step.args.args][2:][: len(rows.carry)]
    system = start.system
    numbers = "".join(f", {s} = {x:g}" for s, x in system.numbers.items())
    return {
        "title": f"One step of {start.method!r} for {system.label}{numbers}; generated by nhlab.",
        "names": names,
        "state": rows.carry.tolist(),
        "arguments": [float(x) for x in start.method.arguments(system, start.shares[0].tolist())],
        "t": t,
        "h": h,
        "clock": "t + h" if start.layout.chooses_step else "begin + (n + 1)*h",
    }


def _python(start: Start, about: dict) -> str:
    return PYTHON.format(step=start.program.text, done=start.done, **about)


def _javascript(start: Start, about: dict) -> str:
    step = javascript.translated(start.program.text, "step")
    written = about | {k: json.dumps(about[k]) for k in ("names", "state", "arguments")}
    return SCRIPT.format(step=step, **written)


def _c(start: Start, about: dict) -> str:
    count, many = len(about["state"]), len(about["arguments"])
    call = ["t", "*h", *(f"state[{k}]" for k in range(count))]
    call += [*(f"args[{k}]" for k in range(many)), "out"]
    written = about | {"state": ", ".join(map(repr, about["state"]))}
    written["arguments"] = ", ".join(
        map(repr, about["arguments"] or [0.0])
    )  # C has no empty arrays
    written["names"] = ", ".join(f'"{x}"' for x in about["names"])
    step = c.translated(start.program.text, "step")
    return C.format(step=step, count=count, many=many, call=", ".join(call), **written)
