"""Systems, methods, starts and wrong arguments drawn at random, for ``fuzz``.

Every function takes a ``random.Random`` and draws the same from the same one.
"""

import numpy as np
import sympy as sp

import nhlab as nh

# Names that generated code uses itself, that Python or SymPy know, or that are no identifiers.
NAMES = (
    "x y z theta h t1 alpha lam_0 new part n row state out left stop every ok e now done I E S pi "
    "lambda def beta gamma mu0 scale2 w_x p_x x_1 x_last lam0 h_new math abs sqrt q' φ"
).split()
VELOCITIES = ("v{}", "v{}", "{}_dot", "{}_1", "p_{}", "{}_last", "{}_step")
CONSTANTS = "a b c g k m J eps omega R mass scale".split()
SMOOTH = (
    lambda x: x,
    sp.sin,
    sp.cos,
    lambda x: x**2 / 2,
    lambda x: 1 / (1 + x**2),
    sp.tanh,
    lambda x: sp.exp(-(x**2)),
    lambda x: sp.sqrt(1 + x**2),
    sp.atan,
)
WILD = (
    lambda x: x**3,
    lambda x: x**4,
    sp.exp,
    lambda x: 1 / x,
    lambda x: 1 / (x - sp.Rational(1, 3)),
    lambda x: x / (1 - x**2),
    sp.sqrt,
    sp.log,
    sp.tan,
    sp.Abs,
    sp.sign,
    sp.acos,
    lambda x: x ** sp.Rational(1, 3),
    lambda x: sp.Piecewise((x**2, x < sp.Rational(1, 4)), (x, True)),
    lambda x: sp.Piecewise((0, x <= 0), (x**2, True)),
    lambda x: sp.Piecewise((sp.sin(x), sp.And(x > -1, x < 1)), (1 / x, True)),
    lambda x: 1e200 * x,
)
UNKNOWN = (sp.erf, sp.gamma, sp.Heaviside, lambda x: sp.Max(x, 0))


class Formulas:
    """Random functions of some coordinates, and the parameters that they brought in."""

    def __init__(self, rng, q, t=None, wild=0.0):
        self.rng, self.q, self.t, self.wild, self.parameters = rng, q, t, wild, {}

    def number(self):
        rng = self.rng
        if rng.random() < 0.3:
            taken = {s.name for s in self.q}
            name = rng.choice([x for x in CONSTANTS if x not in taken])
            extreme = 10 ** rng.uniform(-6, 6) if rng.random() < 0.05 else rng.uniform(0.2, 3)
            self.parameters.setdefault(name, extreme)
            return nh.symbols(name)
        return rng.choice([sp.Rational(rng.randint(1, 9), rng.randint(1, 5)), rng.uniform(0.1, 2)])

    def one(self, wild=None):
        """f(x), times g(y) and a function of time now and then."""
        rng, wild = self.rng, self.wild if wild is None else wild
        table = WILD if rng.random() < wild else SMOOTH
        table = UNKNOWN if rng.random() < wild / 100 else table
        e = rng.choice(table)(rng.choice(self.q))
        if rng.random() < 0.3:
            e = e * rng.choice(SMOOTH)(rng.choice(self.q))
        if rng.random() < wild / 3:
            e = e / (rng.choice(SMOOTH)(rng.choice(self.q)) + self.number())
        if self.t is not None and rng.random() < 0.4:
            e = e * rng.choice([sp.cos(self.t), 1 + self.t**2 / 10, sp.exp(-self.t)])
        return self.number() * e

    def mass(self, n):
        """Constant or not, diagonal or not, and sometimes not definite everywhere."""
        rng = self.rng
        style = rng.choice(["constant", "constant", "full", "varying", "varying", "wild"])
        M = sp.diag(*[self.number() for _ in range(n)])
        for i in range(n if style in ("varying", "wild") else 0):
            M[i, i] += self.one(0) ** 2 if style == "varying" else self.one()
        for _ in range(n - 1 if style != "constant" else 0):
            i, j = rng.sample(range(n), 2)
            off = sp.Rational(1, 5) if style == "full" else sp.sin(rng.choice(self.q)) / 5
            M[i, j] = M[j, i] = off
        return M

    def lagrangian(self, v):
        rng, n = self.rng, len(v)
        kind = rng.random()
        if kind < 0.03:
            T = -2 * sp.sqrt(9 - sum(u**2 for u in v))
        elif kind < 0.06:
            T = sum(u**2 / 2 + u**4 / 4 for u in v)
        else:
            T = (sp.Matrix([v]) * self.mass(n) * sp.Matrix(v))[0] / 2
        b = self.one() * rng.choice(v) if rng.random() < 0.25 else 0
        return T + b - sum((self.one() for _ in range(rng.randint(0, 3))), sp.S.Zero)


def symbols(rng, n):
    names = rng.sample(NAMES, n) if rng.random() < 0.4 else rng.sample(["x", "y", "z", "u", "w"], n)
    style = rng.choice(VELOCITIES) if rng.random() < 0.4 else "v{}"
    q, v = nh.symbols(names), nh.symbols([style.format(x) for x in names])
    clash = {s.name for s in q} & {s.name for s in v}
    return (q, v) if not clash else (q, nh.symbols([f"V{k}" for k in range(n)]))


# ---------------------------------------------------------------------------- systems


def plain(rng):
    n = rng.choice([1, 2, 2, 3, 3, 3, 4])
    q, v = symbols(rng, n)
    t = nh.symbols("t") if rng.random() < 0.25 else None
    f = Formulas(rng, q, t, wild=rng.choice([0, 0, 0.3, 0.6]))
    L, m = f.lagrangian(v), rng.choice([0, 1, 1, 2]) if n > 1 else 0
    m = min(m, n - 1)
    rows, g = [], []
    for k in range(m):  # each row has a velocity of its own, or else is left to chance
        own, others = v[n - 1 - k], v[: n - m]
        if rng.random() < 0.2 and not g:
            g.append(q[n - 1 - k] - f_of(rng, q[: n - m]) if rng.random() < 0.5 else sphere(q, n))
        else:
            rows.append(own * rng.choice([1, 1, f.number()]) - sum(f.one() * u for u in others))
    used = set().union(*(e.free_symbols for e in (L, *rows, *g)))
    values = {k: x for k, x in f.parameters.items() if k in {s.name for s in used}}
    options = {"metric": sp.diag(*range(1, n + 1))} if rng.random() < 0.03 else {}
    t = t if t in used or rng.random() < 0.5 else None
    return nh.System(q, v, L, rows, g, parameters=values, t=t, name="random", **options)


def moving(rng):
    """A random system whose constraints move."""
    s = plain(rng)
    time = sp.S.One if s.t is None else sp.cos(s.t)
    rows = [c + sp.Rational(rng.randint(1, 9), 5) * f_of(rng, s.q) * time for c in s.constraints]
    return s.replace(constraints=rows, holonomic=[g + (time - 1) / 3 for g in s.holonomic])


def f_of(rng, q):
    return rng.choice(SMOOTH)(rng.choice(q))


def sphere(q, n):
    return sum(x**2 for x in q) - n


def fibred(rng):
    """A random system with a cyclic fibre, reduced by its constraints or by a momentum."""
    k, m = rng.choice([1, 2, 2]), rng.choice([1, 1, 2])
    q, v = nh.symbols(["x", "y", "theta"][:k] + ["s", "h"][:m]), nh.symbols(f"v:{k + m}")
    f = Formulas(rng, q[:k], nh.symbols("t") if rng.random() < 0.15 else None)
    L, fibre = f.lagrangian(v), [s.name for s in q[k:]]
    rows = [u - sum(f.one() * w for w in v[:k]) for u in v[k:]] if rng.random() < 0.6 else []
    used = set().union(*(e.free_symbols for e in (L, *rows)))
    values = {a: x for a, x in f.parameters.items() if a in {s.name for s in used}}
    full = nh.System(q, v, L, rows, parameters=values, t=f.t, name="fibred")
    if rows:
        return nh.Chaplygin(full, fibre=fibre)
    return nh.Horizontal(full, fibre, mu=[rng.uniform(-2, 2) for _ in fibre])


def on_group(rng):
    """A random inertia on SO(3) or SE(2), or on R times one, with an invariant constraint or one
    that turns with g."""
    group, k = rng.choice([nh.groups.SO3, nh.groups.SE2]), rng.choice([0, 0, 1])
    r, v = nh.symbols(["x"][:k]), nh.symbols(["vx"][:k] + ["w1", "w2", "w3"])
    I = sp.diag(*[sp.Rational(rng.randint(5, 20), 5) for _ in v])
    I[-1, -2] = I[-2, -1] = sp.Rational(rng.randint(-2, 2), 5)
    L = (sp.Matrix([v]) * I * sp.Matrix(v))[0] / 2 - sum(x**2 / 2 for x in r)
    g = nh.symbols("gw gx gy gz" if group is nh.groups.SO3 else "gx gy theta")
    entry = sp.Matrix(group.entries(g))[rng.randrange(2), rng.randrange(2)]
    rows = rng.choice([[], [v[-1]], [v[-1] - entry * v[0] / 2], [v[0] - v[-1] / 3]])
    rule = rng.choice(["cayley", "log"])
    return nh.GroupSystem(group, v, L, rows, g=g, r=r, rule=rule, name="random")


def listed(rng):
    """From the catalogue, sometimes with another parameter."""
    S = nh.systems
    if rng.random() < 0.3:
        name = rng.choice(sorted(S.on_groups))
        rules = ["cayley", "log", *(["trace"] if name in ("suslov", "rigid_body", "ball") else [])]
        return S.on_groups[name](rule=rng.choice(rules))
    system = S.catalogue[rng.choice(sorted(S.catalogue))]()
    if system.parameters and rng.random() < 0.3:
        return system.set(**{rng.choice([*system.parameters]).name: rng.uniform(0.1, 3)})
    return system


def reduced(rng):
    """Reductions of catalogue systems."""
    S = nh.systems
    makers = [
        lambda: nh.Chaplygin(S.particle(), fibre="z"),
        lambda: nh.Chaplygin(S.robot(), fibre="x y"),
        lambda: nh.Chaplygin(S.rolling_disk(), base="theta phi"),
        lambda: nh.Chaplygin(S.rubber_ball(), base="x y"),
        lambda: nh.Horizontal(S.snakeboard(), "psi"),
        lambda: nh.Horizontal(S.free_particle(), "x"),
        lambda: nh.Horizontal(S.rolling_disk(), "phi"),
    ]
    return rng.choice(makers)()


def system(rng):
    kinds = [plain, fibred, on_group, listed, reduced]
    return rng.choices(kinds, [12, 2, 1, 4, 1])[0](rng)


# ---------------------------------------------------------------------------- methods


def kinds_of_method(rng, system, count=3):
    """A few functions rng -> method; what shapes the generated code is the same in all calls."""
    m, symmetric, own = nh.methods, rng.random() < 0.5, rng.random() < 0.3

    def dla(r):
        return m.DLA(alpha(r), symmetric, alpha(r) if own else None)

    def composed(r):
        base = m.DLA if system.constraints else m.Variational
        base = base(alpha(r), True) if symmetric else base()
        return m.Composition(m.Reversible() if leapfrog else base, order)

    order, gradient, leapfrog = rng.choice([4, 4, 6]), rng.random() < 0.5, rng.random() < 0.3
    tolerance = rng.choice([1e-12, 1e-6])
    table = [
        (3, dla),
        (3, lambda r: m.Projector(alpha(r), symmetric)),
        (3, lambda r: m.EDLA(alpha(r), symmetric)),
        (2, lambda r: m.RK4()),
        (1, lambda r: m.Reference(tolerance)),
        (2, composed),
        (3, lambda r: m.Variational(alpha(r), symmetric)),
        (2, lambda r: m.DiscreteGradient() if gradient else m.Reversible()),
        (6, lambda r: m.RDLA(alpha(r), symmetric)),
        (6, lambda r: m.REDLA(alpha(r), symmetric)),
    ]
    weights = [w if fits(f(rng), system) else w / 20 for w, f in table]
    return rng.choices([f for _, f in table], weights, k=count)


def fits(method, system):
    try:
        method.check(system)
    except ValueError:
        return False
    return True


def alpha(rng):
    return rng.choice([0, 0.5, 0.5, 1, rng.random(), 1e-12])


# ---------------------------------------------------------------------------- starts


def size(rng):
    return rng.choice([1, 1, 1, 1, 0, 10 ** rng.uniform(-8, 5)])


def start(rng, system, t=0.0):
    """(q0, v0), on the constraints as far as a few Newton steps lead there."""
    if system.q0 is not None and system.v0 is not None and rng.random() < 0.3:
        return np.array(system.q0, float), np.array(system.v0, float)
    q = np.array([rng.uniform(-1, 1) for _ in system.q]) * size(rng)
    v = np.array([rng.uniform(-1, 1) for _ in system.v]) * size(rng)
    group = getattr(system, "group", None)
    if group is not None and group.name == "SO3":
        g = np.array([rng.gauss(0, 1) for _ in range(4)])
        q[system.k :] = g / np.linalg.norm(g)
    with np.errstate(all="ignore"):
        for _ in range(8 if system.holonomic else 0):
            slopes = system.values(system.symbolic.Dg, q, None, t)
            q = q - pinv(slopes) @ np.nan_to_num(system.g(q, t))
        A = system.A(q, t)
        for _ in range(2):  # the second time against round-off
            v = v - pinv(A) @ np.nan_to_num(system.constraint(q, v, t))
    return q, v


def pinv(A):
    A = np.asarray(A, float)
    return np.linalg.pinv(A) if A.size and np.isfinite(A).all() else np.zeros(A.shape[::-1])


def second(rng, system, method, q0, v0, h, t):
    """q1 of a step by the method, or where v0 leads."""
    if rng.random() < 0.8:
        try:
            given = {"h": h, "steps": 1, "t0": t, "progress": False}
            return nh.integrate(system, method, q0, v0, **given).q[1]
        except (ValueError, nh.IntegrationError):
            pass
    return system.move(q0, v0, h)


def step_size(rng):
    return rng.choice([10 ** rng.uniform(-12, 3), 10 ** rng.uniform(-3, 0), 0.1, 1000])


# ---------------------------------------------------------------------------- wrong arguments


JUNK = [  # no number, no array of the right shape, or out of range
    *(np.nan, np.inf, -np.inf, -1, -0.5, 0, 1.5, 10**400, 10**13, 1e308, 5e-324, 1j, True, False),
    *(None, "abc", "1", b"1", object(), int, lambda: 1, Ellipsis, ValueError("x")),
    *([], (), {}, {"a": 1}, [[]], [1, [2]], ["x", "y"], [None], range(3), {1, 2}),
    *(np.array(1j), np.zeros((2, 2, 2)), np.zeros(0), np.zeros((0, 3)), np.full(3, np.nan)),
    *(np.ones(17), np.array(["a"]), np.array([object()]), np.datetime64("2020-01-01")),
    *(np.float32(0.5), np.int8(3), np.ma.masked_array([1.0, 2.0], [True, False])),
    *(sp.Symbol("x"), sp.Integer(2), sp.nan, sp.zoo, sp.Matrix([1, 2]), nh.DLA, nh.DLA()),
]


def junk(rng):
    return rng.choice([*JUNK, iter([1, 2])])
