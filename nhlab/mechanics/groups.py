r"""The groups SO(3) and SE(2), in left (body) trivialisation: :math:`\dot g = g\,\hat\xi`.

An element of ``SO3`` is a unit quaternion (w, x, y, z), scalar first, q and -q being the same
rotation; one of ``SE2`` is (x, y, theta).  Algebra elements xi and momenta mu are triples: the body
angular velocity, and (forward speed, sideways speed, turn rate).

Functions of numbers take arrays of shape (..., 4) or (..., 3) and broadcast over the leading axes.
What gives a linear map gives its matrix, shape (..., 3, 3), or applies it: ``SO3.Ad(g)`` or
``SO3.Ad(g, xi)``.

.. math:: \langle \mathrm{Ad}^*_g\mu, \xi\rangle = \langle\mu, \mathrm{Ad}_g\xi\rangle, \qquad
          \tfrac{d}{d\epsilon}\tau(\xi + \epsilon\eta) = (d\tau_\xi\eta)\,\tau(\xi), \qquad
          \tau^{-1}\tfrac{d}{d\epsilon}\tau(\xi + \epsilon\eta) = d\tau_{-\xi}\eta

for tau = exp or cay: d tau is the right-trivialised tangent, at -xi the left one.

In both algebras hat(xi)^3 = -theta^2 hat(xi) with theta^2 = -tr(hat(xi)^2)/2, so that each formula
below is the same for the two groups.  Formulas on components serve arrays and SymPy alike.

Examples
--------
>>> import nhlab as nh
>>> import numpy as np
>>> turn = nh.groups.SO3.exp([0, 0, np.pi / 2])
>>> nh.groups.SO3.matrix(turn).round(12)
array([[ 0., -1.,  0.],
       [ 1.,  0.,  0.],
       [ 0.,  0.,  1.]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot
from ..codegen.printing import written_out
from ..codegen.statement import dummy
from .checks import read_array
from .formula import sympified

Components = tuple[Any, ...]  # of an element or a vector: numbers, arrays or expressions
BASIS = (1, 0, 0), (0, 1, 0), (0, 0, 1)
MATRICES = "expected (..., 3, 3)"


# HalfAngle by its series for theta < 2 pi, where quotients would lose digits; beyond, where the
# series would, by the recurrence from cos and sin.
HALF_ANGLE = """\
def half_angle(n, z):
    near = z < 40.0
    small, large = where(near, z, 0.0), where(near, 40.0, z)
    total = term = 1.0
    for k in range(1, 18):
        term = -term*small/(8*k*(2*n + 2*k - 1))
        total = total + term
    half = sqrt(large)/2
    before, last = cos(half), sin(half)/half
    for k in range(1, n):
        before, last = last, (last - before)*(4*(4*k*k - 1))/large
    return where(near, total, before if n == 0 else last)
"""


@written_out(HALF_ANGLE)
class HalfAngle(sp.Function):
    r"""half_angle(n, z), the Bessel-like functions :math:`{}_0F_1(; n + \tfrac12; -z/16)`.

    With z = theta^2, n = 0 is cos(theta/2) and n = 1 is sin(theta/2)/(theta/2); the derivative by z
    of one is the next, so that neither they nor their derivatives divide by theta.
    """

    nargs = 2

    @classmethod
    def eval(cls, n: sp.Expr, z: sp.Expr) -> sp.Expr | None:
        return sp.S.One if z == 0 else None

    def fdiff(self, argindex: int = 2) -> sp.Expr:
        n, z = self.args
        return -HalfAngle(n + 1, z) / (8 * (2 * n + 1))


class Group:
    """What SO3 and SE2 share.  ``coordinates`` names the entries of an element.

    A group states, on components: _product, _inverse, entries (of its matrix), _Ad, rate (g' = g
    hat(xi)), bracket, _hat, _flat (the row with theta^2 = flat(xi) xi), _element, tau(xi) from
    cos(theta/2) and sin(theta/2)/theta, and back, _half: cos(theta/2), sin(theta/2) and
    sin(theta/2)/theta xi.  Each of its many short methods is an operation of the textbooks.
    """

    name: str
    coordinates: Sequence[str]
    identity: Any
    dim = 3

    def __repr__(self) -> str:
        return f"nh.groups.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    # ------------------------------------------------------------------ numbers

    def multiply(self, a: ArrayLike, b: ArrayLike) -> np.ndarray:
        """The product a b, shape (..., 4) or (..., 3)."""
        return _stack(self._product(self._parts(a, "a"), self._parts(b, "b")))

    def inverse(self, g: ArrayLike) -> np.ndarray:
        return _stack(self._inverse(self._parts(g)))

    def matrix(self, g: Sequence[Any] | ArrayLike) -> Any:
        """The 3 x 3 matrix of g, shape (..., 3, 3); of symbols, a SymPy matrix."""
        if any(isinstance(x, sp.Basic) for x in np.ravel(np.asarray(g, object))):
            return sp.Matrix(self.entries([sympified(x, "g") for x in g]))
        return _table(self.entries(self._parts(g)))

    def hat(self, xi: ArrayLike) -> np.ndarray:
        """The matrix of xi, shape (..., 3, 3)."""
        return _table(self._hat(_columns(xi, "xi")))

    def exp(self, xi: ArrayLike) -> np.ndarray:
        """The exponential map."""
        x = _columns(xi, "xi")
        half = np.sqrt(self._angle2(x)) / 2
        return _stack(self._element(x, np.cos(half), _sinc(half) / 2, x[2]))

    def cay(self, xi: ArrayLike) -> np.ndarray:
        """The Cayley map (1 - hat(xi)/2)^-1 (1 + hat(xi)/2), which never turns by pi."""
        x = _columns(xi, "xi")
        C = 1 / np.sqrt(1 + self._angle2(x) / 4)
        return _stack(self._element(x, C, C / 2, 2 * np.arctan(x[2] / 2)))

    def Ad(self, g: ArrayLike, xi: ArrayLike | None = None) -> np.ndarray:
        """Ad_g xi = g hat(xi) g^-1."""
        return _apply(_table(self._Ad(self._parts(g))), xi)

    def Ad_star(self, g: ArrayLike, mu: ArrayLike | None = None) -> np.ndarray:
        """The dual of Ad_g, the transposed matrix."""
        return _apply(self.Ad(g).mT, mu)

    def log(self, g: ArrayLike) -> np.ndarray:
        """xi with exp(xi) = g and theta <= pi; of the two rotations by pi, that along (x, y, z)."""
        C, S, part = self._half(self._parts(g))
        factor = np.where(S > 0, 2 * np.arctan2(S, C) / np.where(S > 0, S, 1), 2)
        return _stack([factor * x for x in part])

    def cay_inv(self, g: ArrayLike) -> np.ndarray:
        """xi with cay(xi) = g; a turn by pi has none."""
        C, _, part = self._half(self._parts(g))
        if np.any(C < 1e-15):
            raise ValueError("g turns by pi, where the Cayley map has no inverse; use log")
        return _stack([2 * x / C for x in part])

    def _angle2(self, x: Sequence[Any]) -> Any:
        """theta^2, the square of the angle."""
        return sum(a * b for a, b in zip(x, self._flat(x), strict=True))

    # ------------------------------------------------------------------ expressions for step code

    def ad_star_of(self, xi: Sequence[Any], mu: Sequence[Any]) -> list[Any]:
        """ad*_xi mu, as expressions."""
        return [dot(self.bracket(xi, e), mu) for e in BASIS]

    def half(
        self, xi: Sequence[Any], tau: str
    ) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
        """Abbreviations, and in them cos(theta/2), sin(theta/2)/theta and the factor of ad^2 in
        d tau^-1_xi; for tau = "exp" or "cay", and common to xi and -xi."""
        z = dummy("z")
        let = [(z, self._angle2(xi))]
        if tau == "exp":
            f = [HalfAngle(n, z) for n in range(3)]
            return let, [f[0], f[1] / 2, f[2] / (12 * f[1])]
        cos = 1 / sp.sqrt(1 + z / 4)
        return let, [cos, cos / 2, None]

    def step(
        self, g: Sequence[Any], xi: Sequence[Any], tau: str
    ) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
        """Abbreviations, and in them the coordinates of g tau(xi)."""
        let, (cos, sin, _) = self.half(xi, tau)
        angle = xi[2] if tau == "exp" else 2 * sp.atan(xi[2] / 2)
        return let, list(self._product(g, self._element(xi, cos, sin, angle)))

    def normalise(self, g: Sequence[Any], abbreviate: Callable[..., Any] = list) -> list[Any]:
        """The coordinates of the element next to g, which sums may have led off the group.

        Of expressions some get names, by ``named``, before SymPy can put them together.
        """
        return list(g)

    def leaving(
        self, xi: Sequence[Any], mu: Sequence[Any], tau: str, half: Sequence[Any]
    ) -> list[Any]:
        """(d tau^-1_xi)^* mu as expressions: the momentum -D1Ld at g, for mu = L_v; at -xi the
        momentum D2Ld that arrives at g tau(xi)."""
        first = self.ad_star_of(xi, mu)
        if tau == "cay":
            second = [dot(xi, mu) / 4 * x for x in self._flat(xi)]
        else:
            second = [half[2] * x for x in self.ad_star_of(xi, first)]
        return [m - a / 2 + b for m, a, b in zip(mu, first, second, strict=True)]

    # ------------------------------------------------------------------ what comes in

    def element(self, g: Any, name: str = "g", axes: int = 0) -> np.ndarray:
        """g in coordinates, from coordinates, a 3 x 3 matrix or SciPy's Rotation; refused off the
        group.  ``axes`` counts the leading axes: 0 for one element, 1 for many in a row."""
        g = read_array(g.as_matrix() if hasattr(g, "as_matrix") else g, name, finite=True)
        if g.ndim == axes + 2 and g.shape[-2:] == (3, 3):
            return self.from_matrix(g, name)
        return _stack(self._parts(g, name))

    def _parts(self, g: Any, name: str = "g") -> tuple[np.ndarray, ...]:
        k, names = len(self.coordinates), ", ".join(self.coordinates)
        expected = f"an element of {self.name} has {k} numbers, ({names})"
        return _columns(g, name, k, expected)


class _SO3(Group):
    """Rotations of space, as unit quaternions (w, x, y, z)."""

    name = "SO3"
    coordinates = ("w", "x", "y", "z")
    identity = (1.0, 0.0, 0.0, 0.0)

    def _parts(self, g: Any, name: str = "g") -> tuple[np.ndarray, ...]:
        q = super()._parts(g, name)
        size = np.sqrt(sum(x * x for x in q))
        bad = ~(np.abs(size - 1) < 1e-6)
        if bad.any():
            raise ValueError(
                f"{name} is no rotation: its quaternion (w, x, y, z) has |q| = "
                f"{size[bad].flat[0]:.10g}, not 1; divide it by |q|"
            )
        return q

    def _product(self, a: Sequence[Any], b: Sequence[Any]) -> Components:
        (w, x, y, z), (s, i, j, k) = a, b
        return (
            w * s - x * i - y * j - z * k,
            w * i + x * s + y * k - z * j,
            w * j - x * k + y * s + z * i,
            w * k + x * j - y * i + z * s,
        )

    def _inverse(self, g: Sequence[Any]) -> Components:
        w, x, y, z = g
        return w, -x, -y, -z

    def entries(self, g: Sequence[Any]) -> list[list[Any]]:
        """The rows of the rotation matrix of g, in symbols or numbers."""
        w, x, y, z = g
        return (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )

    _Ad = entries

    def rate(self, g: Sequence[Any], xi: Sequence[Any]) -> list[Any]:
        return [x / 2 for x in self._product(g, (0, *xi))]

    def bracket(self, x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
        return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]

    def _flat(self, x: Sequence[Any]) -> Components:
        return tuple(x)

    def _hat(self, x: Sequence[Any]) -> tuple[Components, ...]:
        return (0, -x[2], x[1]), (x[2], 0, -x[0]), (-x[1], x[0], 0)

    def _element(self, x: Sequence[Any], C: Any, f: Any, angle: Any) -> Components:
        return C, f * x[0], f * x[1], f * x[2]

    def _half(self, g: Sequence[np.ndarray]) -> tuple[Any, Any, Sequence[Any]]:
        w, *part = np.where(g[0] < 0, -1.0, 1.0) * g
        return w, np.sqrt(sum(x * x for x in part)), part

    def from_matrix(self, R: ArrayLike, name: str = "R") -> np.ndarray:
        """The quaternion, w >= 0, of a rotation matrix; shape (..., 3, 3) to (..., 4)."""
        R = read_array(R, name, (3, 3), MATRICES, finite=True)
        gap = np.abs(R @ R.mT - np.eye(3)).max(initial=0)
        if not gap < 1e-6 or np.any(np.linalg.det(R) < 0):
            raise ValueError(
                f"{name} is no rotation: |R R^T - 1| = {gap:.3g}, det R = "
                f"{np.ravel(np.linalg.det(R))[0]:.6g}"
            )
        from scipy.spatial.transform import Rotation  # late: most runs need no SciPy

        q = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat().reshape(*R.shape[:-2], 4)
        q = np.roll(q, 1, -1)  # the scalar first
        return np.where(q[..., :1] < 0, -q, q)

    def element(self, g: Any, name: str = "g", axes: int = 0) -> np.ndarray:
        g = super().element(g, name, axes)
        return g / np.linalg.norm(g, axis=-1, keepdims=True)

    def step(
        self, g: Sequence[Any], xi: Sequence[Any], tau: str
    ) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
        """One square root: the product is made a unit quaternion, whatever the length of tau."""
        let, half = ([], (1, sp.Rational(1, 2))) if tau == "cay" else self.half(xi, tau)
        product = self._product(g, self._element(xi, *half[:2], None))
        y = [dummy(f"{s}_step") for s in self.coordinates]
        size2, unit = dummy("size2"), dummy("unit")  # two, for short derivatives
        let += [*zip(y, product, strict=True), (size2, sum(x**2 for x in y))]
        return [*let, (unit, 1 / sp.sqrt(size2))], [x * unit for x in y]

    def normalise(self, g: Sequence[Any], abbreviate: Callable[..., Any] = list) -> list[Any]:
        whole = sum(abs(x) for x in g)
        g = abbreviate([x / whole for x in g])  # whose squares do not overflow
        size2 = sum(x * x for x in g)
        size = sp.sqrt(size2) if isinstance(size2, sp.Basic) else np.sqrt(size2)
        return [x / size for x in g]

    def near(self, g: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Of g and -g, the one next to the other element."""
        return np.where((g * other).sum(-1, keepdims=True) < 0, -g, g)


class _SE2(Group):
    """Motions of the plane, as (x, y, theta); angles that differ by 2 pi are the same."""

    name = "SE2"
    coordinates = ("x", "y", "theta")
    identity = (0.0, 0.0, 0.0)

    def _turn(self, angle: Any, x: Any, y: Any) -> Components:
        c, s = _cos_sin(angle)
        return c * x - s * y, s * x + c * y

    def _product(self, a: Sequence[Any], b: Sequence[Any]) -> Components:
        (x, y, theta), (i, j, angle) = a, b
        i, j = self._turn(theta, i, j)
        return x + i, y + j, theta + angle

    def _inverse(self, g: Sequence[Any]) -> Components:
        x, y, theta = g
        return *self._turn(-theta, -x, -y), -theta

    def entries(self, g: Sequence[Any]) -> list[list[Any]]:
        """The rows of the 3 x 3 matrix that moves points (x, y, 1), in symbols or numbers."""
        x, y, theta = g
        c, s = _cos_sin(theta)
        return (c, -s, x), (s, c, y), (0, 0, 1)

    def _Ad(self, g: Sequence[Any]) -> tuple[Components, ...]:
        x, y, theta = g
        return self.entries((y, -x, theta))

    def rate(self, g: Sequence[Any], xi: Sequence[Any]) -> list[Any]:
        return [*self._turn(g[2], xi[0], xi[1]), xi[2]]

    def bracket(self, x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
        return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], 0

    def _flat(self, x: Sequence[Any]) -> Components:
        return 0, 0, x[2]

    def _hat(self, x: Sequence[Any]) -> tuple[Components, ...]:
        return (0, -x[2], x[0]), (x[2], 0, x[1]), (0, 0, 0)

    def _element(self, x: Sequence[Any], C: Any, f: Any, angle: Any) -> Components:
        a, b = 2 * f * C, 2 * f * f * x[2]  # sin(theta)/theta, (1 - cos(theta))/theta
        return a * x[0] - b * x[1], b * x[0] + a * x[1], angle

    def _half(self, g: Sequence[np.ndarray]) -> tuple[Any, Any, Sequence[Any]]:
        x, y, theta = g
        half = theta / 2 - np.pi * np.ceil((theta / np.pi - 1) / 2)  # in (-pi/2, pi/2]
        x, y = self._turn(-half, x / 2, y / 2)
        return np.cos(half), np.abs(np.sin(half)), (x, y, np.sin(half))

    def from_matrix(self, R: ArrayLike, name: str = "R") -> np.ndarray:
        """(x, y, theta), |theta| <= pi, of a matrix [[c, -s, x], [s, c, y], [0, 0, 1]]."""
        R = read_array(R, name, (3, 3), MATRICES, finite=True)
        theta = np.arctan2(R[..., 1, 0], R[..., 0, 0])
        g = np.stack([R[..., 0, 2], R[..., 1, 2], theta], -1)
        gap = np.abs(self.matrix(g) - R).max(initial=0)
        if not gap < 1e-6:
            raise ValueError(
                f"{name} is no motion of the plane: it differs by {gap:.3g} from the "
                "nearest [[c, -s, x], [s, c, y], [0, 0, 1]]"
            )
        return g

    def near(self, g: np.ndarray, other: np.ndarray) -> np.ndarray:
        """g with the angle within pi of the other element's."""
        turns = np.round((g[..., 2] - other[..., 2]) / (2 * np.pi))
        return g - 2 * np.pi * turns[..., None] * np.array([0, 0, 1])


SO3, SE2 = _SO3(), _SE2()


def _columns(
    x: Any, name: str, k: int = 3, expected: str = "its last axis must have length 3"
) -> tuple[np.ndarray, ...]:
    return tuple(np.moveaxis(read_array(x, name, (k,), expected, finite=True), -1, 0))


def _stack(parts: Sequence[Any]) -> np.ndarray:
    return np.stack(np.broadcast_arrays(*parts), -1)


def _table(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    entries = _stack([x for row in rows for x in row])
    return entries.reshape(*entries.shape[:-1], 3, 3)


def _apply(matrix: np.ndarray, x: ArrayLike | None) -> np.ndarray:
    if x is None:
        return matrix
    return np.einsum("...ij,...j->...i", matrix, _stack(_columns(x, "the vector")))


def _sinc(x: np.ndarray) -> np.ndarray:
    """sin(x)/x; NumPy's multiplies by pi first, which costs large angles their last digits."""
    return np.where(x == 0, 1.0, np.sin(x) / np.where(x == 0, 1.0, x))


def _cos_sin(angle: Any) -> tuple[Any, Any]:
    F = sp if isinstance(angle, sp.Basic) else np
    return F.cos(angle), F.sin(angle)
