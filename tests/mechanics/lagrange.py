"""The motion of a system by SymPy's own ``LagrangesMethod``."""

import numpy as np
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols


def by_lagranges_method(s):
    """Acceleration and multipliers as a function of (t, q, v).

    SymPy states (dL/dv)' - L_q = A^T lambda as we do, so the multipliers agree in sign too.
    """
    time = dynamicsymbols._t
    q = [dynamicsymbols(f"{x.name}_") for x in s.q]
    rates = [x.diff(time) for x in q]
    here = dict(zip((*s.q, *s.v), (*q, *rates), strict=True)) | s.parameters
    if s.t is not None:
        here[s.t] = time
    forms = [c.subs(here) for c in s.constraints]
    surfaces = [g.subs(here) for g in s.holonomic]
    lm = LagrangesMethod(s.L.subs(here), q, hol_coneqs=surfaces, nonhol_coneqs=forms)
    lm.form_lagranges_equations()
    full = sp.lambdify((time, q, rates), (lm.mass_matrix_full, lm.forcing_full))

    def motion(t, q, v):
        matrix, forcing = full(t, q, v)
        unknowns = np.linalg.solve(matrix, np.ravel(forcing))
        return unknowns[len(q) : 2 * len(q)], unknowns[2 * len(q) :]

    return motion
