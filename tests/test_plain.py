"""The plain program beside the library, beside the printed equations, and alone."""

import doctest
import inspect
import itertools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracle
import pytest
import sympy as sp
from runs import close, far, made, power, true_end

import nhlab as nh
from nhlab import plain

FILE = Path(plain.__file__)
SYSTEMS = nh.systems.catalogue
REFUSED = {"spherical_pendulum"}  # g(q) = 0
IN_TIME = {"driven"}  # only edla and redla know t
MACHINES = ("roller_racer", "car_with_trailer", "tilted_disk", "rattleback")
STATED = sorted({*SYSTEMS, *MACHINES} - REFUSED)
METHODS = {"dla": nh.DLA, "projector": nh.Projector, "edla": nh.EDLA}
PAIRS = [(s, m, a) for s, m in itertools.product(STATED, METHODS) for a in (0.5, 0.3)
         if not (s in IN_TIME and m != "edla") and not (m == "edla" and a != 0.5)
         and not (s in MACHINES and a != 0.5)]  # fmt: skip
CHAPLYGIN = {"particle": "z", "robot": "x y", "rolling_disk": "x y", "sleigh": "y",
             "knife_edge": "y", "driven": "z"}  # fmt: skip
SO3, SE2 = ([nh.groups.__dict__[name].hat(e) for e in np.eye(3)] for name in ("SO3", "SE2"))
ROWS = {  # on groups, the constraints as functions of the matrix g
    "suslov": lambda g: np.array([[0, 0, 1]]),
    "sleigh_se2": lambda g: np.array([[0, 1, 0]]),
    "ball": lambda g: np.array([[-2 * g[2, 1], 0, 1]]),
    "ball_right": lambda g: g[2:3],
    "rigid_body": lambda g: np.zeros((0, 3)),
}


def library(system, method, h, steps):
    """The run of the library, or what it could compute of it."""
    try:
        return nh.integrate(system, method, h=h, steps=steps)
    except nh.IntegrationError as error:
        return error.trajectory


def same(run, sol, tolerance=1e-9):
    for name in run._fields:
        a, b = getattr(run, name), getattr(sol, name)
        assert a.shape == b.shape and np.abs(a - b).max(initial=0) <= tolerance, name


def particle(method, h=0.1, steps=40, **options):
    """A run of the particle, from its own start."""
    s = made(nh.systems.particle)
    return getattr(plain, method)(*plain.functions(s), s.q0, s.v0, h, steps, **options)


# ---------------------------------------------------------------------------- beside the library


@pytest.mark.parametrize("name, method, alpha", PAIRS)
def test_it_agrees_with_the_library(name, method, alpha):
    s = made(getattr(nh.systems, name))
    L, A = plain.functions(s)
    h = 0.01 if name == "rattleback" else 0.1  # which rocks fast
    sol = library(s, METHODS[method](alpha), h, 25)
    steps = len(sol.t) - 1
    same(getattr(plain, method)(L, A, s.q0, s.v0, h, steps, alpha), sol)
    if steps < 25:  # where no positive step exists, neither finds one
        with pytest.raises(ArithmeticError, match=f"steps={steps}; .*no positive step"):
            plain.edla(L, A, s.q0, s.v0, h, 25)
        assert method == "edla"
    else:
        far(sol.q - nh.integrate(s, nh.RK4(), h=h, steps=25).q, 1e-9)


@pytest.mark.parametrize("name", ["pendulum", "kepler"])
@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_without_constraints(name, alpha):
    s = made(getattr(nh.systems, name))
    L, _ = plain.functions(s)
    run = plain.variational(L, s.q0, s.v0, 0.1, 40, alpha)
    same(run, nh.integrate(s, nh.Variational(alpha), h=0.1, steps=40))


@pytest.mark.parametrize("alpha", [0.5, 0.3])
@pytest.mark.parametrize("name", CHAPLYGIN)
def test_reduced_methods_agree_with_the_library(name, alpha):
    """With the s that plain reconstructs; for ``driven`` f depends on the times (C03 Prop. 3)."""
    s, fibre = made(getattr(nh.systems, name)), CHAPLYGIN[name]
    red = nh.Chaplygin(s, fibre=fibre)
    order = [x.name for x in red.base] + fibre.split()
    L, A = plain.functions(s, " ".join(order))
    places = [[x.name for x in s.q].index(x) for x in order]
    q0, v0 = np.array(s.q0)[places], np.array(s.v0)[places]
    for method, how in (("rdla", nh.RDLA), ("redla", nh.REDLA)):
        if (method == "rdla") == (name in IN_TIME) or (method == "redla" and alpha != 0.5):
            continue
        sol = nh.integrate(red, how(alpha), h=0.1, steps=15)
        run = getattr(plain, method)(L, A, q0, v0, 0.1, 15, alpha)
        same(run._replace(q=run.q[:, : len(red.q)]), sol)
        close(run.q - red.reconstruct(sol).q[:, places], 1e-9)


@pytest.mark.parametrize("name", ROWS)
def test_on_groups_it_agrees_with_the_library(name):
    s = made(getattr(nh.systems, name))
    M, basis = s.M(s.q0), SE2 if name == "sleigh_se2" else SO3
    sol = nh.integrate(s, nh.Projector(), h=0.1, steps=30)
    g0 = s.group.matrix(s.q0)
    run = plain.group_projector(lambda w: w @ M @ w / 2, ROWS[name], g0, s.v0, 0.1, 30, basis)
    close(run.q - s.group.matrix(sol.q), 1e-12)
    same(run._replace(q=sol.q), sol, 1e-12)
    far(run.q[1:] - run.q[0], 1e-12)


def test_every_other_system_is_refused():
    """Also a reduced one, whose L* alone would move without its gyroscopic force."""
    others = [getattr(nh.systems, x) for x in REFUSED] + [nh.systems.rubber_ball, nh.systems.suslov]
    others += [f for name, f in nh.systems.machines.items() if name not in MACHINES]
    others = [make() for make in others]
    assert len(others) == 7
    for s in (*others, nh.Chaplygin(made(nh.systems.particle), fibre="z")):
        with pytest.raises(ValueError, match=r"more than L.* use nh\.integrate"):
            plain.functions(s)


def test_coordinates_may_have_the_names_of_functions():
    q, v = nh.symbols("sqrt lambda"), nh.symbols("v1 v2")
    s = nh.System(q, v, sp.sqrt(1 + v[0] ** 2) + v[1] ** 2, [v[0] - q[0] * v[1]])
    L, A = plain.functions(s)
    assert L([3.0, 0.0], [1.0, 1.0]) == pytest.approx(np.sqrt(2) + 1)
    assert A(np.array([3.0, 0.0])).tolist() == [[1, -3]]


# ---------------------------------------------------------------------------- as printed


def printed(name, run, alpha=0.5):
    """Ld of the library's SymPy formulas, and the steps 0..N-2, 1..N-1 of a run."""
    Ld = oracle.discrete(made(getattr(nh.systems, name)), nh.DLA(alpha))
    return Ld, *oracle.steps(run.t, run.q)


@pytest.mark.parametrize("name", ["particle", "sleigh", "robot"])
@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_dla_is_CM01_6(name, alpha):
    s = made(getattr(nh.systems, name))
    run = plain.dla(*plain.functions(s), s.q0, s.v0, 0.1, 30, alpha)
    Ld, before, after = printed(name, run, alpha)
    A = oracle.formulas(s).A(run.t[1:-1], run.q[1:-1])
    jump = Ld.D2(*after) + Ld.D4(*before)
    close(jump - np.einsum("kai,ka->ki", A, run.lam[1:]), 1e-12)
    close(Ld.wd(*after), 1e-12)
    close(run.p[2:] - Ld.D4(*after), 1e-12)
    far(jump, 1e-12)


def test_projector_is_FIM08_6():
    s = made(nh.systems.sleigh)
    run = plain.projector(*plain.functions(s), s.q0, s.v0, 0.1, 30)
    Ld, before, after = printed("sleigh", run)
    here = oracle.formulas(s)
    for k, (p_plus, p_minus) in enumerate(zip(Ld.D4(*before), -Ld.D2(*after), strict=True), 1):
        M, A = here.M(0.0, run.q[k]), here.A(0.0, run.q[k])
        Q = np.linalg.inv(M) @ A.T @ np.linalg.inv(A @ np.linalg.inv(M) @ A.T) @ A
        close(p_minus - (np.eye(3) - 2 * Q).T @ p_plus, 1e-12)
        close(p_plus - p_minus - A.T @ run.lam[k], 1e-12)
    far(Ld.wd(*after), 1e-12)


@pytest.mark.parametrize("name", ["particle", "driven"])
def test_edla_is_C03_6(name):
    s = made(getattr(nh.systems, name))
    run = plain.edla(*plain.functions(s), s.q0, s.v0, 0.1, 40)
    Ld, before, after = printed(name, run)
    A = oracle.formulas(s).A(run.t[1:-1], run.q[1:-1])
    close(Ld.D1(*after) + Ld.D3(*before), 1e-12)
    close(Ld.D2(*after) + Ld.D4(*before) - np.einsum("kai,ka->ki", A, run.lam[1:]), 1e-12)
    close(Ld.wd(*after), 1e-12)
    h = np.diff(run.t)
    assert h[0] == 0.1 and (h > 0).all() and np.ptp(h) > 1e-4  # forwards, and not at equal steps
    moved = np.ptp(Ld.D1(*after))
    assert moved > 1e-2 if name == "driven" else moved < 1e-12


def test_rdla_is_CM01_32():
    """For the particle by hand: f = y_alpha (x1 - x0), and s' + A(r) r' = 0 with A = (-y, 0)."""
    a, h = 0.3, 0.1
    x0, y0, x1, y1, f = sp.symbols("x0 y0 x1 y1 f")
    x, y = (1 - a) * x0 + a * x1, (1 - a) * y0 + a * y1
    l_d = ((x1 - x0) ** 2 + (y1 - y0) ** 2 + f**2) / (2 * h) - h * (x**2 + y**2)
    fd, slot = y * (x1 - x0), {1: (x0, y0), 2: (x1, y1)}

    def momentum(k, sign):
        """D_k Ld* - F, F = dl_d/df (df/dr_k + sign A(r_k))."""
        A = (-slot[k][1], 0)
        F = [l_d.diff(f) * (fd.diff(r) + sign * A[i]) for i, r in enumerate(slot[k])]
        both = [l_d.subs(f, fd).diff(r) - F[i].subs(f, fd) for i, r in enumerate(slot[k])]
        return sp.lambdify([x0, y0, x1, y1], both)

    run = particle("rdla", h, 30, alpha=a)
    ends = np.hstack([run.q[:-1, :2], run.q[1:, :2]])
    leaving, arriving = (np.array([momentum(*k)(*e) for e in ends]) for k in ((1, -1), (2, 1)))
    close(leaving[1:] + arriving[:-1], 1e-12)  # D1Ld* + D2Ld* = F- + F+
    close(run.p[1:] - arriving, 1e-12)
    close(run.q - particle("dla", h, 30, alpha=a).q, 1e-12)
    far(np.diff(run.p, axis=0), 1e-12)


def test_group_projector_is_FIM08_7():
    """In body form, p_k = (P - Q)^T Ad*_W p_k-1, for Suslov's body."""
    I = np.array([[1, 0, 0.5], [0, 2, 0.3], [0.5, 0.3, 2.5]])
    A, one = ROWS["suslov"], np.eye(3)
    run = plain.group_projector(lambda w: w @ I @ w / 2, A, one, [0.6, -0.8, 0], 0.1, 30, SO3)
    close(run.q @ run.q.mT - one, 1e-13)
    Q = np.linalg.inv(I) @ A(one).T @ A(one) / np.linalg.inv(I)[2, 2]
    W = run.q[:-1].mT @ run.q[1:]  # Ad_W is W itself on SO(3)
    leaving = run.p[:-1] - np.einsum("ai,ka->ki", A(one), run.lam)
    close(leaving - run.p[:-1] @ (one - 2 * Q), 1e-13)
    close(run.p[1:] - np.einsum("kij,ki->kj", W, leaving), 1e-13)


def test_orders():
    s, end = made(nh.systems.particle), true_end(made(nh.systems.particle), 1.0)
    cases = {"dla": {0.5: 2, 0.3: 1}, "projector": {0.5: 2, 0.3: 1}, "rdla": {0.5: 2}}
    for method, orders in cases.items():
        for alpha, order in orders.items():

            def error(h, method=method, alpha=alpha):
                run = particle(method, h, round(1 / h), alpha=alpha)
                return np.abs(run.q[-1] - end).max()

            assert power(error, (0.1, 0.05, 0.025)) == pytest.approx(order, abs=0.15), method
    run = plain.edla(*plain.functions(s), s.q0, s.v0, 0.05, 1)
    close(run.q - particle("dla", 0.05, 1).q, 0)  # its first step is one of DLA


# ---------------------------------------------------------------------------- alone


def test_it_is_as_short_as_the_readme_says():
    lines = len(FILE.read_text(encoding="utf-8").splitlines())
    assert lines <= 250 and "250 lines" in (FILE.parents[1] / "README.md").read_text("utf-8")


def test_its_example_is_true():
    assert doctest.testmod(plain).attempted >= 6 and doctest.testmod(plain).failed == 0


def test_every_function_says_what_it_is():
    own = [f for f in vars(plain).values() if inspect.isfunction(f)]
    own = [f for f in own if f.__module__ == plain.__name__]
    assert len(own) > 15 and all(len(f.__doc__) > 40 for f in own)


def test_a_copy_of_it_runs_without_nhlab(tmp_path):
    (tmp_path / "copied.py").write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    code = "import sys; sys.modules |= dict.fromkeys(['nhlab', 'sympy', 'matplotlib'])\n"
    code += "import copied, numpy as np\nL = lambda q, v: v @ v / 2 - q @ q / 2\n"
    code += "A = lambda q: np.array([[-q[1], 0, 1]])\nstart = [1, 2, 0], [1, 0, 2], 0.1, 5\n"
    code += "runs = [getattr(copied, x)(L, A, *start) for x in 'dla projector edla'.split()]\n"
    code += "print([x.q.shape for x in runs], [m for m in sys.modules if m[:6] == 'nhlab.'])"
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert shown.stdout.strip() == "[(6, 3), (6, 3), (6, 3)] []", shown.stderr


# ---------------------------------------------------------------------------- what goes wrong


def skate(q, v):
    return v @ v / 2 + 0.5 * q[0]


def across(q):
    return np.array([[np.sin(q[2]), -np.cos(q[2]), 0]])


START = {"q0": [0, 0, 0.0], "v0": [0, 0, 1.0], "h": 0.1, "steps": 3}
CALLS = {
    "v0 off": ({"v0": [1, 1, 1]}, "A(q0) v0 = [-1.] must be 0; the nearest such v0 is [1.0, 0.0"),
    "h": ({"h": -0.1}, "h = -0.1 positive"),
    "h nan": ({"h": np.nan}, "h = nan positive"),
    "lengths": ({"q0": [0, 0]}, "must be equally long"),
    "norm": ({"L": lambda q, v: np.linalg.norm(v) ** 2 / 2}, "must accept complex numbers"),
    "abs": ({"L": lambda q, v: v @ v / 2 - abs(q[0]) ** 2}, "must accept complex numbers"),
}


@pytest.mark.parametrize("method", ["dla", "projector", "edla", "rdla", "redla"])
@pytest.mark.parametrize("name", CALLS)
def test_starts_that_are_refused(name, method):
    changes, words = CALLS[name]
    with pytest.raises(ValueError) as error:
        getattr(plain, method)(**{"L": skate, "A": across} | START | changes)
    assert words in str(error.value)


def test_other_refusals():
    quartic = {"L": lambda q, v: v @ v / 2 + (v @ v) ** 2, "A": across} | START
    with pytest.raises(ValueError, match="quadratic in v; dla takes any L"):
        plain.projector(**quartic)
    plain.dla(**quartic)
    uphill = {"L": lambda q, v: v @ v / 2 + q[2], "A": lambda q: np.array([[-q[1], 0, 1.0]])}
    with pytest.raises(ValueError, match="L depends on the last 1 coordinates of q; use dla"):
        plain.rdla(**uphill | START | {"v0": [1, 0, 0]})


def test_a_run_that_ends_says_where():
    """The snakeboard's rows become one at phi = pi/2."""
    s = made(nh.systems.snakeboard)
    L, A = plain.functions(s)
    q0 = [0, 0, 0, 0, np.pi / 2]
    with pytest.raises(ArithmeticError, match=r"step 1 is not found, .*steps=0; .*dependent"):
        plain.dla(L, A, q0, [0, 1, 0, 0, 1], 0.1, 3)


def test_a_default_argument_is_not_the_time():
    run = plain.edla(lambda q, v, k=1.0: v @ v / 2 - k * q @ q, lambda q: np.array([[-q[1], 0, 1]]),
                     [0, 1, 0], [1, 1, 1], 0.1, 5)  # fmt: skip
    same(run, plain.edla(lambda q, v: v @ v / 2 - q @ q, lambda q: np.array([[-q[1], 0, 1]]),
                         [0, 1, 0], [1, 1, 1], 0.1, 5), 0)  # fmt: skip


def test_the_residual_decides_not_the_solver(monkeypatch):
    """SciPy calls some of the good steps failures; and a bad one with its success is refused."""
    found, root = [], plain.root
    monkeypatch.setattr(plain, "root", lambda *x, **y: found.append(root(*x, **y)) or found[-1])
    particle("dla", 0.2, 200)
    failures = [x for x in found if not x.success]
    assert failures and max(np.abs(x.fun).max() for x in failures) < 1e-13
    for residual in (0.08, np.nan):
        wrong = SimpleNamespace(x=np.ones(4), fun=np.array([residual]), success=True)
        monkeypatch.setattr(plain, "root", lambda *x, wrong=wrong, **y: wrong)
        with pytest.raises(ArithmeticError, match=r"step 1 is not found, .*residual of"):
            plain.dla(skate, across, **START)
