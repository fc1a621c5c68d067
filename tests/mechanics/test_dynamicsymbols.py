"""Systems as users of ``sympy.physics.mechanics`` write them, against SymPy's own equations."""

import numpy as np
import pytest
import sympy as sp
import sympy.physics.mechanics as me
from sympy.physics.mechanics import dynamicsymbols

import nhlab as nh

TIME = dynamicsymbols._t


def sleigh():
    """q, L, constraint, parameters of the Chaplygin sleigh in dynamicsymbols."""
    x, y, th = q = dynamicsymbols("x y theta")
    m, inertia, a = sp.symbols("m I a")
    vx, vy, w = (s.diff() for s in q)
    v = vx - a * sp.sin(th) * w, vy + a * sp.cos(th) * w
    L = m * (v[0] ** 2 + v[1] ** 2) / 2 + inertia * w**2 / 2
    return q, L, vx * sp.sin(th) - vy * sp.cos(th), {m: 1, inertia: 1, a: 0.2}


def lagrange_acceleration(method, parameters, q, v, t=0.0):
    """SymPy's own: the solution of its mass matrix for (q'', lambda)."""
    method.form_lagranges_equations()
    n = len(method.q)
    here = dict(zip(method.q.diff(TIME), v, strict=True)) | parameters
    there = dict(zip(method.q, q, strict=True)) | {TIME: t}
    A, b = (
        np.array(x.subs(here).subs(there), float)
        for x in (method.mass_matrix_full[n:, n:], method.forcing_full[n:, :])
    )
    return np.linalg.solve(A, b)[:n, 0]


def test_a_lagranges_method_with_velocity_constraints():
    q, L, c, parameters = sleigh()
    method = me.LagrangesMethod(L, q, nonhol_coneqs=[c])
    s = nh.System.from_mechanics(method, parameters=parameters)
    assert s == nh.System.from_mechanics(L, q, [c], parameters=parameters)
    at = [0.3, -0.4, 0.5], [np.cos(0.5), np.sin(0.5), 0.7]
    expected = lagrange_acceleration(method, parameters, *at)
    np.testing.assert_allclose(s.acceleration(*at), expected, rtol=1e-12)


def test_a_lagranges_method_with_holonomic_constraints():
    x, y = q = dynamicsymbols("x y")
    L = (x.diff() ** 2 + y.diff() ** 2) / 2 - 9.81 * y
    method = me.LagrangesMethod(L, q, hol_coneqs=[x**2 + y**2 - 1])
    s = nh.System.from_mechanics(method)
    assert len(s.holonomic) == 1 and not s.constraints
    at = [0.6, -0.8], [0.8, 0.6]
    np.testing.assert_allclose(
        s.acceleration(*at), lagrange_acceleration(method, {}, *at), rtol=1e-12
    )


def test_a_lagranges_method_with_a_constraint_that_moves():
    x, y = q = dynamicsymbols("x y")
    L = (x.diff() ** 2 + y.diff() ** 2) / 2 - 9.81 * y
    rod = (x - sp.sin(TIME)) ** 2 + y**2 - 1
    method = me.LagrangesMethod(L, q, hol_coneqs=[rod])
    s = nh.System.from_mechanics(method)
    q0 = [0.6 + np.sin(0.3), -0.8]
    at = q0, s.complete(q0, vx=1.2, t=0.3), 0.3
    expected = lagrange_acceleration(method, {}, *at)
    np.testing.assert_allclose(s.acceleration(*at), expected, rtol=1e-12)


def rolling_bodies():
    """A disk that rolls upright: frames, a body, q, u, kinematic equations, constraints."""
    q = x, y, th, ph = dynamicsymbols("x y theta phi")
    u = dynamicsymbols("u1:5")
    m, R = sp.symbols("m R")
    N = me.ReferenceFrame("N")
    A = N.orientnew("A", "axis", (ph, N.z))
    B = A.orientnew("B", "axis", (th, A.y))
    A.set_ang_vel(N, u[3] * N.z)
    B.set_ang_vel(A, u[2] * A.y)
    C = me.Point("C")
    C.set_vel(N, u[0] * N.x + u[1] * N.y)
    body = me.RigidBody(
        "disk", C, B, m, (me.inertia(B, m * R**2 / 4, m * R**2 / 2, m * R**2 / 4), C)
    )
    roll = [u[0] - R * u[2] * sp.cos(ph), u[1] - R * u[2] * sp.sin(ph)]
    kinematic = [w - s.diff() for w, s in zip(u, q, strict=True)]
    return N, body, q, u, kinematic, roll, {m: 2, R: 0.5}


def test_bodies_and_a_frame_with_speeds():
    N, body, q, u, kinematic, roll, parameters = rolling_bodies()
    s = nh.System.from_mechanics(
        [body], q, roll, frame=N, speeds=u, kinematic=kinematic, parameters=parameters
    )
    start = [0, 0, 0.2, 0.3], [0.5 * np.cos(0.3), 0.5 * np.sin(0.3), 1, 0.7]
    sol = nh.integrate(s, nh.Reference(), *start, h=1.0, steps=2)
    rho = 0.5 * 1 / 0.7  # the circle of the contact point
    np.testing.assert_allclose(sol.q[-1, 0], rho * (np.sin(0.3 + 1.4) - np.sin(0.3)), rtol=1e-10)
    np.testing.assert_allclose(sol.q[-1, 1], rho * (np.cos(0.3) - np.cos(0.3 + 1.4)), rtol=1e-10)


def test_speeds_of_their_own():
    """Speeds along and across the sleigh, defined by equations that have to be solved for them."""
    q, L, _, parameters = sleigh()
    x, y, th = q
    u = dynamicsymbols("u1:4")
    kinematic = [
        x.diff() - u[0] * sp.cos(th) + u[1] * sp.sin(th),
        y.diff() - u[0] * sp.sin(th) - u[1] * sp.cos(th),
        th.diff() - u[2],
    ]
    m, inertia, a = parameters
    L = m * (u[0] ** 2 + (u[1] + a * u[2]) ** 2) / 2 + inertia * u[2] ** 2 / 2
    s = nh.System.from_mechanics(L, q, [u[1]], speeds=u, kinematic=kinematic, parameters=parameters)
    plain = nh.System.from_mechanics(sleigh()[1], q, sleigh()[2], parameters=parameters)
    at = [0.3, -0.4, 0.5], [np.cos(0.5), np.sin(0.5), 0.7]
    np.testing.assert_allclose(s.acceleration(*at), plain.acceleration(*at), rtol=1e-12)
    np.testing.assert_allclose(s.energy(*at), plain.energy(*at), rtol=1e-14)


def test_lagrangian_as_its_users_write():
    """Symbols that are not declared real, values by symbol and by name, rates in three ways."""
    q1, q2, q3 = q = dynamicsymbols("q1:4")
    u1, u2, u3 = dynamicsymbols("q1:4", 1)
    M, G = sp.symbols("M G")
    L = M * (u1**2 + q2.diff() ** 2 + q3.diff(TIME) ** 2) / 2 - G * (q1**2 + q2**2)
    s = nh.System.from_mechanics(L, q, sp.Matrix([u3 - q2 * u1]), parameters={M: 2, "G": 2})
    c, d = nh.symbols(["q1", "q2", "q3"]), s.v
    L = M * sum(u**2 for u in d) / 2 - G * (c[0] ** 2 + c[1] ** 2)
    direct = nh.System(c, d, L, [d[2] - c[1] * d[0]], parameters={M: 2, G: 2})
    assert s == direct and s.key == direct.key and s.is_autonomous


def test_time_holonomic_constraints_and_a_metric():
    a, b, c = dynamicsymbols("a b c")
    time = dynamicsymbols._t
    L = (a.diff() ** 2 + b.diff() ** 2 + c.diff() ** 2) / 2 - (1 + sp.sin(time)) * a**2
    s = nh.System.from_mechanics(L, [a, b, c], [c.diff() - sp.cos(time) * a.diff()])
    assert s.t is not None and not s.is_autonomous
    np.testing.assert_allclose(s.V([2, 0, 0], t=0.5), 4 * (1 + np.sin(0.5)), rtol=1e-15)
    np.testing.assert_allclose(s.A([2, 0, 0], t=0.5), [[-np.cos(0.5), 0, 1]], rtol=1e-15)
    T = (a.diff() ** 2 + b.diff() ** 2) / 2
    ball = nh.System.from_mechanics(T, [a, b], holonomic=[a**2 + b**2 - 1])
    np.testing.assert_allclose(ball.g([2, 0]), [3])
    row, metric = a.diff() - b * b.diff(), [[1 + b**2, 0], [0, 1]]
    twisted = nh.System.from_mechanics(T, [a, b], [row], metric=metric)
    np.testing.assert_allclose(twisted.G([0, 2]), [[5, 0], [0, 1]])


def test_matrices_and_equations():
    q, L, c, parameters = sleigh()
    one = nh.System.from_mechanics(L, q, [c], parameters=parameters)
    column = sp.Matrix(q)
    as_matrices = nh.System.from_mechanics(
        sp.Matrix([L]), column, sp.ImmutableMatrix([[c]]), parameters=parameters
    )
    as_arrays = nh.System.from_mechanics(
        L, np.array(q), np.array([sp.Eq(c, 0)]), parameters=parameters
    )
    assert one == as_matrices == as_arrays


# ---------------------------------------------------------------------------- names


def test_a_coordinate_that_looks_like_a_velocity():
    a, b = dynamicsymbols("x vx")
    s = nh.System.from_mechanics(a.diff() ** 2 / 2 + b.diff() ** 2 * (1 + a**2) - b**2, [a, b])
    np.testing.assert_allclose(s.energy([1, 3], [2, 5]), 2 + 25 * 2 + 9)


def test_a_parameter_that_is_named_like_a_velocity():
    """A speed vx of the wind beside the coordinate x is not the velocity of x."""
    x, wind = dynamicsymbols("x"), sp.Symbol("vx", real=True)
    s = nh.System.from_mechanics(x.diff() ** 2 / 2 + wind * x, [x], parameters={wind: 3})
    assert [str(u) for u in s.v] == ["vx_"] and list(s.parameters.values()) == [3]
    np.testing.assert_array_equal(s.acceleration([1], [2]), [3])
    c = nh.System.from_mechanics(
        x.diff() ** 2 / 2 + (dynamicsymbols("y").diff()) ** 2,
        dynamicsymbols("x y"),
        [x.diff() - wind * dynamicsymbols("y").diff()],
        parameters={"vx": 2},
    )
    np.testing.assert_array_equal(c.A([0, 0]), [[1, -2]])


@pytest.mark.parametrize("name", ["x", "t"])
def test_a_parameter_that_is_named_like_a_coordinate_or_time(name):
    x, p = dynamicsymbols("x"), sp.Symbol(name, real=True)
    with pytest.raises(ValueError, match=f"{name} is a parameter and .* give it another name"):
        nh.System.from_mechanics(x.diff() ** 2 / 2 + p * x, [x], parameters={p: 3})


# ---------------------------------------------------------------------------- refusals


X, Y = dynamicsymbols("x y")
U, W = dynamicsymbols("u w")
T = X.diff() ** 2 / 2
N_, P_ = me.ReferenceFrame("N"), me.Point("P")
WRONG = {
    "a vector": (lambda f: f(N_.x, [X]), "L is a Vector", "kinematic=kd_eqs"),
    "Kane without bodies": (
        lambda f: f(me.KanesMethod(N_, [X], [U], [U - X.diff()])), "has no bodies"),
    "Kane on a circle": (
        lambda f: f(me.KanesMethod(
            N_, [X], [U], [U - X.diff(), W - Y.diff()], [Y], [X**2 + Y**2 - 1], [W],
            [X * U + Y * W], bodies=[me.Particle("P", P_, 1)])),
        "configuration constraints", "holonomic=configuration_constraints"),
    "bodies without a frame": (
        lambda f: f([me.Particle("P", P_, 1)], [X]), "frame = None", "frame=N"),
    "bodies without velocity": (
        lambda f: f(me.Particle("P", P_, 1), [X], frame=N_), "the bodies cannot be read"),
    "q missing": (lambda f: f(T), "q is missing"),
    "q twice": (lambda f: f(me.LagrangesMethod(T, [X]), [X]), "q belongs to the LagrangesMethod"),
    "constraints twice": (
        lambda f: f(me.LagrangesMethod(T, [X]), constraints=np.array([X.diff()])),
        "constraints belongs to the LagrangesMethod"),
    "function of another variable": (
        lambda f: f(T, [sp.Function("x")(sp.Symbol("s"))]), "no dynamicsymbol"),
    "text as constraint": (lambda f: f(T, [X], ["x"]), "constraints = 'x'"),
    "vector as constraint": (lambda f: f(T, [X], [N_.x]), "constraints", "SymPy expression"),
    "True as constraint": (lambda f: f(T, [X], [True]), "constraints = True", "scalar"),
    "matrix of two as L": (lambda f: f(sp.Matrix([T, T]), [X]), "L = ", "scalar"),
    "an acceleration": (lambda f: f(T + X.diff(TIME, 2), [X]), "Derivative(x(t), (t, 2))"),
    "a speed without equation": (lambda f: f(T + U**2, [X]), "u(t)", "speeds"),
    "too few equations": (lambda f: f(T, [X], speeds=[U]), "1 speeds and 0 kinematic"),
    "equations without the speed": (
        lambda f: f(T, [X], speeds=[U], kinematic=[X.diff()]), "do not determine the speeds"),
    "speeds not linear": (
        lambda f: f(T, [X], speeds=[U], kinematic=[X.diff() - U**2]), "linear in them"),
    "text as speed": (
        lambda f: f(T, [X], speeds=["u"], kinematic=[X.diff() - U]), "is a dynamicsymbol"),
    "text as t": (lambda f: f(T * TIME, [X], t="s"), "t: 's'"),
}  # fmt: skip


# ---------------------------------------------------------------------------- forces


def cart():
    """A pendulum on a cart: a push, a spring and damping as loads; and SymPy's method for them."""
    x, th, push = dynamicsymbols("x theta F")
    k, c = sp.symbols("k c")
    N = me.ReferenceFrame("N")
    B = N.orientnew("B", "axis", (th, N.z))
    O, P = me.Point("O"), me.Point("P")
    O.set_vel(N, x.diff() * N.x)
    P.set_pos(O, -B.y)
    P.v2pt_theory(O, N, B)
    bodies = [me.Particle("cart", O, 2), me.Particle("bob", P, 1)]
    bodies[1].potential_energy = -9.81 * sp.cos(th)
    loads = [(O, (push - k * x) * N.x), (P, -c * P.vel(N)), (B, -c * th.diff() * N.z)]
    return N, (x, th), push, bodies, loads, {k: 3, c: 0.4}


def test_loads_against_lagranges_equations():
    N, q, push, bodies, loads, parameters = cart()
    L = me.Lagrangian(N, *bodies)
    method = me.LagrangesMethod(L, q, forcelist=loads, bodies=bodies, frame=N)
    ours = nh.System.from_mechanics(method, parameters=parameters)
    same = nh.System.from_mechanics(bodies, q, frame=N, forces=loads, parameters=parameters)
    assert ours == same and "input F" in repr(ours)
    at = [0.3, -0.4], [0.5, 0.7]
    expected = lagrange_acceleration(method, parameters | {push: 1.5}, *at)
    np.testing.assert_allclose(ours.set(F=1.5).acceleration(*at), expected, rtol=1e-12)


def test_forces_per_coordinate():
    x, y = q = dynamicsymbols("x y")
    L = (x.diff() ** 2 + y.diff() ** 2) / 2
    one = nh.System.from_mechanics(L, q, forces=[-x.diff(), sp.cos(TIME)])
    two = nh.System.from_mechanics(L, q, forces={y: sp.cos(TIME), "x": -x.diff()})
    assert one == two and one.t is not None
    np.testing.assert_allclose(one.acceleration([0, 0], [2, 0], 0.5), [-2, np.cos(0.5)])


def test_forces_against_kane():
    """The rolling disk with a motor at its axle, by KanesMethod."""
    N, body, q, u, kinematic, roll, parameters = rolling_bodies()
    torque = [(body.frame, u[3] * N.z + (2 - u[2]) * body.y)]
    s = nh.System.from_mechanics(
        [body], q, roll, frame=N, speeds=u, kinematic=kinematic, forces=torque,
        parameters=parameters,
    )  # fmt: skip
    method = me.KanesMethod(
        N, q, u[2:], kd_eqs=kinematic, u_dependent=u[:2], velocity_constraints=roll
    )
    method.kanes_equations([body], torque)
    assert nh.System.from_mechanics(method, parameters=parameters) == s
    at = [0.1, 0.2, 0.4, 0.3], s.complete([0.1, 0.2, 0.4, 0.3], vtheta=1, vphi=0.7)
    here = dict(zip(u, at[1], strict=True)) | dict(zip(q, at[0], strict=True)) | parameters
    mass, force = (np.array(me.msubs(e, here), float) for e in (method.mass_matrix, method.forcing))
    theta, phi, x, y = np.linalg.solve(mass, force)[:, 0]
    np.testing.assert_allclose(s.acceleration(*at), [x, y, theta, phi], rtol=1e-12)


FORCES = {
    "no frame": (lambda f: f(T, [X], forces=[(P_, N_.x)]), "the forces need the inertial"),
    "a point at rest nowhere": (
        lambda f: f(T, [X], forces=[(P_, N_.x)], frame=N_), "the forces cannot be read"),
    "a frame that turns nowhere": (
        lambda f: f(T, [X], forces=[(me.ReferenceFrame("B"), N_.x)], frame=N_),
        "the forces cannot be read"),
    "a load on nothing": (
        lambda f: f(T, [X], forces=[(X, N_.x)], frame=N_), "neither a Point nor a Reference"),
    "a number as force": (lambda f: f(T, [X], forces=[(N_, 3)], frame=N_), "3 at N is no vector"),
    "an unknown coordinate": (lambda f: f(T, [X], forces={Y: 1}), "y is none of the coordinates"),
    "too many": (lambda f: f(T, [X], forces=[1, 2]), "forces has 2 entries"),
    "text": (lambda f: f(T, [X], forces=["a"]), "forces = 'a'"),
    "an input twice": (
        lambda f: f(T, [X], forces=[U + sp.Symbol("u")]), "u is a parameter and u(t) too"),
    "a function of x": (
        lambda f: f(T, [X], forces=[sp.Function("f")(X)]), "occur in L, the forces"),
    "an input in L": (lambda f: f(T + U * X, [X], forces=[U]), "['u(t)'] occur in L"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG | FORCES)
def test_refusals(case):
    call, *words = (WRONG | FORCES)[case]
    with pytest.raises(ValueError) as error:
        call(nh.System.from_mechanics)
    assert all(word in str(error.value) for word in words), error.value
