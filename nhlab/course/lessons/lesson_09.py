"""Lesson 09: sketches and bodies of three vehicles, a panel that plays a reader's own system, the
growth of a distribution, and error messages collected without stopping the notebook."""

from __future__ import annotations

import textwrap
import warnings

import ipywidgets as w
import numpy as np
import sympy as sp

from ...methods import DLA
from ...run.errors import IntegrationError
from ...run.loop import integrate
from ...view import plot
from ...view.bodies import Body
from ...view.widgets import Picture, panel

DARK, GREY, BLUE, ORANGE = "#333333", "#BBBBBB", "#0072B2", "#D55E00"


# ---------------------------------------------------------------------------- bodies


def box(length, width):
    """The outline of a box about the origin, (5, 2)."""
    x, y = length / 2, width / 2
    return np.array([[-x, -y], [x, -y], [x, y], [-x, y], [-x, -y]])


def disk(radius):
    a = np.linspace(0, 2 * np.pi, 41)
    return radius * np.column_stack([np.cos(a), np.sin(a)])


def place(points, angle, at):
    """Points turned by an angle and moved to ``at``."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, float) @ [[c, s], [-s, c]] + np.asarray(at)


def ahead(at, angle, distance):
    """The point at a distance along a heading; arrays of them if given arrays."""
    return np.asarray(at) + distance * np.stack([np.cos(angle), np.sin(angle)], -1)


def axle(at, angle, width=0.5):
    """Two wheels and the axle between them, as one curve with gaps."""
    wheel, gap = box(0.26, 0.09), [[np.nan, np.nan]]
    side = [0, width / 2]
    parts = [wheel + side, gap, wheel - side, gap, [[0, -width / 2], [0, width / 2]]]
    return place(np.vstack(parts), angle, at)


class Cart(Body):
    def parts(self, q):
        (x, y, theta, psi), a = q, self.value["a"]
        top = ahead((x, y), theta, a)  # the rotor sits on the centre of mass
        bar = [[-0.28, 0], [0.28, 0]]
        return [
            place(box(0.8, 0.44) + [0.15, 0], theta, (x, y)),
            axle((x, y), theta, 0.6),
            disk(0.32) + top,
            place(bar, theta + psi, top),
        ]

    def tracks(self, q):
        return [q[..., :2]]


class Car(Body):
    def parts(self, q):
        (x, y, theta, phi, psi), l, d = q, self.value["l"], self.value["d"]
        trailer = ahead((x, y), psi, -d)
        return [
            place(box(l + 0.5, 0.62) + [l / 2, 0], theta, (x, y)),
            axle((x, y), theta),
            axle(ahead((x, y), theta, l), theta + phi, 0.3),
            np.array([(x, y), trailer]),
            place(box(0.6, 0.62), psi, trailer),
            axle(trailer, psi),
        ]

    def tracks(self, q):
        return [q[..., :2], ahead(q[..., :2], q[..., 4], -self.value["d"])]


class Racer(Body):
    def parts(self, q):
        (x, y, theta, phi), d1, d2 = q, self.value["d1"], self.value["d2"]
        joint = ahead((x, y), theta, d1)
        front = ahead(joint, theta + phi, d2)
        return [
            place([[-0.3, -0.3], [-0.3, 0.3], [d1, 0], [-0.3, -0.3]], theta, (x, y)),
            axle((x, y), theta, 0.7),
            np.array([joint, front]),
            axle(front, theta + phi, 0.4),
            disk(0.07) + joint,
        ]

    def tracks(self, q):
        return [q[..., :2]]


# ---------------------------------------------------------------------------- sketches

POSES = {Cart: (0, 0, 0.5, 0.9), Car: (0, 0, 0.35, 0.45, -0.3), Racer: (0, 0, 0.35, 0.6)}
VALUES = {Cart: {"a": 0.3}, Car: {"l": 1.4, "d": 1.5}, Racer: {"d1": 1.3, "d2": 0.5}}


class _Pose:
    """As much of a system as a body asks for."""

    def __init__(self, values):
        self.parameters = {sp.Symbol(k): x for k, x in values.items()}


def sketch(kind):
    """The body with its coordinates and lengths named; ``kind`` is Cart, Car or Racer."""
    q, values = np.array(POSES[kind]), VALUES[kind]
    fig, ax = plot.new(size=(6.4, 3.4))
    for points in kind(_Pose(values)).parts(q):
        ax.plot(*points.T, color=DARK, linewidth=1.8)
    ax.set_aspect("equal")
    ax.axis("off")
    at, theta = q[:2], q[2]
    ax.plot(*at, "o", color=ORANGE, zorder=4)
    ax.annotate(
        "$(x, y)$",
        at,
        (-42, -6) if kind is Cart else (8, -18),
        textcoords="offset points",
        color=ORANGE,
        fontsize=13,
    )
    if kind is Cart:
        top = ahead(at, theta, 0.3)
        _angle(ax, at, 0, theta, 0.95, r"$\theta$")
        _angle(ax, top, theta, theta + q[3], 0.5, r"$\psi$")
        ax.plot(*top, "o", color=BLUE, zorder=4)
        _name(ax, "centre of mass,\n$a$ ahead of the axle", top, (0.55, -0.62))
    elif kind is Car:
        front, trailer = ahead(at, theta, values["l"]), ahead(at, q[4], -values["d"])
        _angle(ax, at, 0, theta, 0.8, r"$\theta$")
        _angle(ax, front, theta, theta + q[3], 0.7, r"$\phi$")
        _angle(ax, trailer, 0, q[4], 0.9, r"$\psi$")
        _name(ax, "$l$", ahead(at, theta, 0.7), (-0.06, 0.14), arrow=False)
        _name(ax, "$d$", ahead(at, q[4], -0.6), (-0.1, -0.16), arrow=False)
    else:
        joint = ahead(at, theta, values["d1"])
        _angle(ax, at, 0, theta, 1.0, r"$\theta$")
        _angle(ax, joint, theta, theta + q[3], 0.75, r"$\phi$")
        _name(ax, "$d_1$", ahead(at, theta, 0.65), (-0.25, 0.28), arrow=False)
        _name(ax, "$d_2$", ahead(joint, theta + q[3], 0.25), (-0.22, 0.12), arrow=False)
    return fig


def _angle(ax, at, start, stop, radius, text):
    ax.plot(*np.array([at, ahead(at, start, 1.25 * radius)]).T, ":", color=GREY)
    ax.plot(*np.array([at, ahead(at, stop, 1.25 * radius)]).T, ":", color=GREY)
    arc = np.linspace(start, stop, 30)
    ax.plot(*ahead(at, arc, radius).T, color=BLUE, linewidth=1.4)
    ax.text(*ahead(at, (start + stop) / 2, 1.13 * radius), text, color=BLUE, va="center",
            ha="center", fontsize=14)  # fmt: skip


def _name(ax, text, at, shift, arrow=True):
    style = {"arrowprops": {"arrowstyle": "-", "color": GREY}} if arrow else {}
    ax.annotate(text, at, np.asarray(at) + shift, color=BLUE, va="center", fontsize=13, **style)


# ---------------------------------------------------------------------------- playing


def motion_panel(system, kind, start, curve, *, T, h, label="", caption="", method=None, **sliders):
    """A reader's system in motion: sliders for parameters and starts, a time slider, a play button.

    kind : a Body;  start(values) -> (q0, v0);  curve(sol) -> (N+1,), drawn over time at the right
    sliders : (low, high, value) by name; those named like parameters of the system set them
    """
    method = DLA() if method is None else method
    picture = Picture((9.2, 4.2), 1, 2, gridspec_kw={"width_ratios": (1.5, 1)})
    picture.figure.set_layout_engine(None)  # nothing is arranged anew while a slider moves
    picture.figure.subplots_adjust(left=0.08, right=0.98, bottom=0.14, top=0.96, wspace=0.26)
    left, right = picture.axes
    left.set(xlabel="$x$ (m)", ylabel="$y$ (m)")
    right.set(xlabel="time $t$ (s)", ylabel=label, xlim=(0, T))
    names = {s.name for s in system.parameters} & set(sliders)
    body = kind(system)
    tracks = [picture.line(ax=left, color=c, linewidth=1.2)
              for _, c in zip(body.tracks(np.zeros((1, len(system.q)))), (BLUE, ORANGE),
                              strict=False)]  # fmt: skip
    parts = [picture.line(ax=left, color=DARK, linewidth=1.8)
             for _ in body.parts(np.zeros(len(system.q)))]  # fmt: skip
    line = picture.line(ax=right, color=BLUE)
    here = picture.line(ax=right, color=BLUE, marker="o", linestyle="none", markersize=8)
    memory = {}

    def run(values):
        key = tuple(x for k, x in values.items() if k != "t")
        if key not in memory:
            memory.clear()
            s = system.set(**{k: values[k] for k in names})
            q0, v0 = start(values)
            memory[key] = integrate(s, method, q0, v0, h=h, steps=round(T / h))
        return memory[key]

    def update(picture, values, quick):
        sol = run(values)
        body, y = kind(sol.system), curve(sol)
        q = np.array([np.interp(values["t"], sol.t, x) for x in sol.q.T])
        drawn = body.tracks(sol.q)
        for track, points in zip(tracks, drawn, strict=True):
            track.set_data(*points.T)
        for part, points in zip(parts, body.parts(q), strict=True):
            part.set_data(*points.T)
        line.set_data(sol.t, y)
        here.set_data([values["t"]], [np.interp(values["t"], sol.t, y)])
        _frame(picture, left, np.concatenate(drawn))
        picture.fit(right, sol.t, y)
        E = sol.energy()
        return {"at the end": f"x = {sol.q[-1, 0]:.2f}, y = {sol.q[-1, 1]:.2f}",
                "energy": f"{E[0]:.3f}", "spread of the energy": f"{np.ptp(E):.1e}"}  # fmt: skip

    made = panel(
        picture, update, caption=caption, alt=caption, **sliders, t=(0.0, float(T), 0.4 * T)
    )
    return _playing(made, "t")


def _frame(picture, ax, points, room=0.8):
    """Limits with equal scales that hold the points, changed only if they are far from fitting."""
    box = ax.get_position()
    ratio = box.width / box.height * np.divide(*picture.figure.get_size_inches())
    low, high = points.min(0) - room, points.max(0) + room
    half = max(high[0] - low[0], ratio * (high[1] - low[1])) / 2
    limits = np.array([ax.get_xlim(), ax.get_ylim()]).T
    inside = np.all(limits[0] <= low) and np.all(high <= limits[1])
    if inside and 2 * half > 0.5 * (limits[1, 0] - limits[0, 0]) and limits[1, 0] != 1:
        return
    centre, half = (low + high) / 2, 1.05 * half
    ax.set(xlim=centre[0] + np.array([-half, half]),
           ylim=centre[1] + np.array([-half, half]) / ratio)  # fmt: skip
    picture.changed()


def _playing(made, name, interval=80):
    """Add a play button that moves the slider ``name``."""
    slider = made.controls[name]
    play = w.Play(min=0, max=round(slider.max / slider.step), interval=interval)
    play.observe(lambda change: setattr(slider, "value", change["new"] * slider.step), "value")
    slider.observe(
        lambda change: play.set_trait("value", round(change["new"] / slider.step)), "value"
    )
    made.bar.children = (play, *made.bar.children)
    return made


# ---------------------------------------------------------------------------- growth


def growth(system):
    """Dimensions of D, D + [D, D], ... at a generic point, as far as they grow.

    The last one is the dimension of what can be reached: n if the constraints restrict no position.
    """
    n, A = len(system.q), sp.Matrix(system.symbolic.A)
    q = np.random.default_rng(9).uniform(0.3, 1.2, n)
    values = {s: sp.nsimplify(x) for s, x in system.parameters.items()}
    bound = _independent_columns(system.A(q))
    free = [k for k in range(n) if k not in bound]
    B = A[:, bound].subs(values)
    solved = -(B.adjugate() * A[:, free].subs(values)).applyfunc(sp.expand)
    first = []
    for j, k in enumerate(free):  # the velocity k is det B, the other free ones 0: no denominators
        X = sp.zeros(n, 1)
        X[k] = B.det()
        for i, b in enumerate(bound):
            X[b] = solved[i, j]
        first.append(X)
    fields, last, dimensions = list(first), first, []
    while True:
        table = sp.lambdify(system.q, sp.Matrix.hstack(*fields), "numpy", cse=True)(*q)
        rank = int(np.linalg.matrix_rank(table, tol=1e-9))
        if rank in dimensions:
            return dimensions
        dimensions.append(rank)
        if rank == n:
            return dimensions
        last = [_bracket(X, Y, system.q) for X in first for Y in last if X is not Y]
        fields += last


def _independent_columns(A):
    """Indices of as many columns as A has rows, chosen far from dependent."""
    from scipy.linalg import qr

    return sorted(int(k) for k in qr(A, mode="r", pivoting=True)[1][: len(A)])


def _bracket(X, Y, q):
    return Y.jacobian(q) * X - X.jacobian(q) * Y


# ---------------------------------------------------------------------------- messages


def show_errors(calls, width=94):
    """Make each call (label -> function) and print what it is answered with: error or warning."""
    for label, call in calls.items():
        text = textwrap.fill(
            _answer(call), width, initial_indent=" " * 4, subsequent_indent=" " * 4
        )
        print(label, text, sep="\n")


def _answer(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (ValueError, IntegrationError) as error:
            return f"{type(error).__name__}: {error}"
    if not caught:
        raise AssertionError("this call was to be refused, but it went through")
    return f"{caught[0].category.__name__}: {caught[0].message}"
