"""What a figure of a paper is: a system, methods, readings, axes, and a claim that can be judged.

A statement is data and small functions.  ``nhlab.course.figures`` lists them; from each come the
plate in ``figures/`` and the panel with sliders (``nhlab.course.live``).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ..methods import Reference
from ..run.errors import IntegrationError
from ..run.loop import integrate
from ..view import plot
from ..view.bodies import body
from ..view.setting import Call, Setting, written
from .kit import ahead, joined


class Made(NamedTuple):
    """What was computed for a setting: trajectories by name, as far as they came."""

    call: Call
    sols: dict
    stops: dict  # name -> the IntegrationError


class Shape(NamedTuple):
    """A curve on one of the axes; ``name`` is that of its run or of what it draws."""

    name: str
    x: np.ndarray
    y: np.ndarray
    look: dict
    row: int = 0


class Row(NamedTuple):
    """One axes of a view: its label, and what is read of discrete and of classical methods."""

    ylabel: str
    discrete: str
    classical: str
    part: str = ""  # end of the names of the columns

    @property
    def mixed(self):
        return self.discrete != self.classical


@lru_cache(64)
def exact(system, q0, v0, h, steps, method):
    """The reference: it takes most of the time, and neither alpha nor the rule changes it."""
    return integrate(system, method, q0, v0, h=h, steps=steps, progress=False)


@dataclass(frozen=True)
class Statement:
    """Words, and a setting of sliders whose untouched values are those of the figure."""

    title: str
    shows: str
    left_open: str  # by the paper, and chosen here
    claim: str
    setting: Setting
    judge: Callable = None  # found(...) -> does the claim hold, and in which numbers
    note: Callable = lambda found: ""  # what the gallery adds
    size: tuple = (7.2, 3.8)
    views: dict = field(default_factory=lambda: {"": ()})
    changes: dict = field(default_factory=dict)  # views of energies -> of what they change by
    end = staticmethod(lambda call: None)  # where the horizontal axis ends, if it begins at 0
    equal = False  # is the picture to scale?
    fixed = None  # limits that do not follow the curves

    @property
    def caption(self):
        return f"{self.shows} {self.left_open}".strip()

    def for_page(self):
        """What of it a page shows that computes without Python."""
        return self

    def made(self, call, quick=False):
        """The runs of a setting; ``quick`` leaves out the reference."""
        sols, stops = {}, {}
        for name, method in call.methods.items():
            if quick and isinstance(method, Reference):
                continue
            try:
                with warnings.catch_warnings():  # that an energy grows is for the judge to say
                    warnings.simplefilter("ignore", RuntimeWarning)
                    sols[name] = self.run(call, name)
            except IntegrationError as error:
                sols[name], stops[name] = error.trajectory, error
        return Made(call, sols, stops)

    def run(self, call, name):
        if isinstance(call.methods[name], Reference):
            start = call.system, call.q0, call.v0, call.h, call.steps
            return exact(*start, call.methods[name])
        return call.run(name)

    def shapes(self, made, view):
        raise NotImplementedError

    def labels(self, made):
        """(x, y, text) to be written into the picture."""
        return []

    def frames(self, view):
        """What the axes of a view say, for each of them."""
        return [{}]

    def data(self, made):
        """The table of the figure: columns of equal length."""
        raise NotImplementedError

    def found(self, made, view):
        """What a judge looks at: of each run the trajectory and all that is drawn of it."""
        drawn = {}
        for shape in self.shapes(made, view):
            drawn.setdefault(shape.name, []).append(shape.y)
        return {
            k: SimpleNamespace(sol=sol, y=np.concatenate(drawn.get(k, [[]])))
            for k, sol in made.sols.items()
        }

    def verdict(self, made, view):
        """Does the claim hold, and in which numbers?"""
        for name, stop in made.stops.items():
            where = f"after {stop.step} steps at t = {stop.time:.4g}"
            return False, f"{plot.label(made.sols[name].method)} stops {where}"
        return self.judge(self.found(made, view))

    def plotted(self, call, view):
        """Lines of code that draw a view."""
        return []

    def code(self, call, view):
        return call.code(self.setting.systems[0], *self.plotted(call, view))


# ---------------------------------------------------------------------------- curves


@dataclass(frozen=True)
class Curves(Statement):
    """A curve over time for each run; the views, of one or several Rows, differ in what is read."""

    columns: dict = field(default_factory=dict)  # run -> column of the data, name in the legend
    end = staticmethod(lambda call: call.T)

    def shapes(self, made, view):
        found = []
        for name, sol in made.sols.items():
            for k, row in enumerate(self.views[view]):
                look = {"label": self.legend(row, name, sol.method), **plot.look(sol.method)}
                found.append(Shape(name, *self._read(row, sol), look, k))
        return found

    def _read(self, row, sol):
        reading = row.discrete if sol.method.discrete else row.classical
        x, y = plot.reading(reading, sol.system).read(sol)
        later = row.mixed and not sol.method.discrete  # beside steps, the start has no partner
        return x[later:], y[later:]

    def legend(self, row, name, method):
        where = ", each step" if method.discrete else ", nodes"
        return self.columns[name][1] + where * row.mixed

    def data(self, made):
        view, table = next(iter(self.views)), {}
        for shape in self.shapes(made, view):
            table.setdefault("t", shape.x)
            part = self.views[view][shape.row].part
            table[self.columns[shape.name][0] + part] = shape.y
        return table

    def frames(self, view):
        names = [{"ylabel": row.ylabel, "xlabel": ""} for row in self.views[view]]
        names[-1]["xlabel"] = "time $t$"
        return names

    def plotted(self, call, view):
        lines = []
        for row in self.views[view]:
            axes = "ax = "
            for reading in dict.fromkeys((row.discrete, row.classical)):
                some = [
                    name
                    for name, m in call.methods.items()
                    if reading == (row.discrete if m.discrete else row.classical)
                ]
                also = "" if axes else ", ax"
                lines.append(f'{axes}nh.plot.draw([{", ".join(some)}], "{reading}"{also})')
                axes = ""
        return lines


@dataclass(frozen=True)
class Errors(Curves):
    """Distances from the exact motion, whose first two points all methods are given (FIM08).

    views : name -> the runs shown, and whether the scale is logarithmic
    """

    end = staticmethod(lambda call: call.steps)

    def made(self, call, quick=False):
        return super().made(call)  # nothing can be read without the reference

    def run(self, call, name):
        true = super().run(call, "reference")
        return true if name == "reference" else call.run(name, q1=true.q[1])

    def shapes(self, made, view):
        return [self._error(made, name) for name in self.views[view][0]]

    def _error(self, made, name):
        sol = made.sols[name]
        y = np.linalg.norm(sol.q - made.sols["reference"].q[: len(sol.q)], axis=1)
        return Shape(name, np.arange(len(y)), y, self.look(name, sol.method))

    def look(self, name, method):
        look = {"label": self.columns[name][1], **plot.look(method)}
        own = getattr(method, "constraint_alpha", None) is not None
        return look | ({"linestyle": ":"} if own else {})

    def data(self, made):
        every = [self._error(made, name) for name in self.columns]
        return {"k": every[0].x} | {self.columns[x.name][0]: x.y for x in every}

    def found(self, made, view):
        return {k: SimpleNamespace(y=self._error(made, k).y) for k in self.columns}

    def frames(self, view):
        names = {"xlabel": "step $k$", "ylabel": "error in $\\mathbb{R}^3$"}
        logarithmic = {"yscale": "log", "ylim": (1e-5, 10)}
        return [names | (logarithmic if self.views[view][1] else {"yscale": "linear"})]

    def plotted(self, call, view):
        runs, logarithmic = self.views[view]
        return [
            "fig, ax = nh.plot.new()",
            f"for sol in ({', '.join(runs)}):",
            "    error = ((sol.q - reference.q) ** 2).sum(1) ** 0.5",
            "    ax.plot(error, label=nh.plot.label(sol.method), **nh.plot.look(sol.method))",
            "ax.legend()",
        ] + ['ax.set_yscale("log")'] * logarithmic

    def code(self, call, view):
        return call.code(self.setting.systems[0], *self.plotted(call, view), q1_of="reference")


# ---------------------------------------------------------------------------- drawings


def arrows(tails, tips, head=0.07):
    """Arrows as one curve with gaps."""
    made = []
    for a, b in zip(tails, tips, strict=True):
        angle = np.arctan2(*(b - a)[::-1])
        barbs = [ahead(b, angle + side, -head) for side in (0.45, -0.45)]
        made.append([a, b, barbs[0], b, barbs[1]])
    return joined(made).T


def bent_arrows(tails, tips, bulge, head=0.06):
    """Arrows as one curve with gaps; each is a parabola that leaves the straight line to its left
    by the share ``bulge`` of its length."""
    made, s = [], np.linspace(0, 1, 15)[:, None]
    for a, b in zip(tails, tips, strict=True):
        top = (a + b) / 2 + 2 * bulge * np.array([a[1] - b[1], b[0] - a[0]])
        curve = (1 - s) ** 2 * a + 2 * s * (1 - s) * top + s**2 * b
        angle = np.arctan2(*(b - top)[::-1])
        barbs = [ahead(b, angle + side, -head) for side in (0.45, -0.45)]
        made.append([*curve, barbs[0], b, barbs[1]])
    return joined(made).T


@dataclass(frozen=True)
class Momenta(Statement):
    """The momenta that arrive at the nodes of a path in the plane, and those that leave.

    With ``whole`` also what makes one of the other: right translation R* from node to node, and the
    reflection P* - Q* at a node.
    """

    length: float = 0.5  # of the arrow of a unit momentum
    whole: bool = True  # else only the momenta at inner nodes
    equal = True

    def for_page(self):
        """A page that computes without Python knows the momenta at inner nodes alone."""
        return replace(self, whole=False, shows=self.shows.split(" Dashed")[0])

    def shapes(self, made, view):
        sol = made.sols["projector"]
        dots = {"color": "#333333", "marker": "o", "linestyle": "none"}
        found = [Shape("nodes", *sol.q[:, :2].T, dots)]
        if len(sol.q) < 3:  # it stopped before a node had two neighbours
            return found
        q, mean = sol.q[1:-1], (sol.p[1:-1] + sol.p_minus[1:]) / 2
        dotted = {"color": "#777777", "linestyle": ":", "label": "in $D$"}
        found.append(Shape("D", *self._in_D(sol.system, q, mean), dotted))
        arrive, leave = self._tails_and_tips(sol)
        for name, ends, colour, text in (
            ("p_plus", arrive, "#0072B2", "arriving $p^+$"),
            ("p_minus", leave, "#D55E00", "leaving $p^-$"),
        ):
            look = {"color": colour, "linewidth": 2, "label": text}
            found.append(Shape(name, *arrows(*ends), look))
        if self.whole:
            thin = {"color": "#555555", "linewidth": 1.2}
            carried = bent_arrows(leave[1], arrive[1], -0.22)
            mirrored = bent_arrows(arrive[1][:-1], leave[1][1:], -0.2)
            dashed = thin | {"linestyle": "--", "label": "$R^*$"}
            found.append(Shape("carried", *carried, dashed))
            found.append(Shape("mirrored", *mirrored, thin | {"label": "$P^*-Q^*$"}))
        return found

    def _tails_and_tips(self, sol):
        """Of the momenta that arrive and of those that leave, at all nodes that have them."""
        some = (slice(1, None), slice(None, -1)) if self.whole else (slice(1, -1),) * 2
        arrive, leave = (sol.q[nodes, :2] for nodes in some)
        p, p_minus = sol.p[some[0], :2], sol.p_minus[not self.whole :, :2]
        return (arrive, arrive + self.length * p), (leave, leave + self.length * p_minus)

    def _in_D(self, system, q, mean):
        """Lines of momenta of D that belong to the turn rate of the mean, at any speed."""
        along, turning = np.zeros((2, *q.shape), q.dtype)
        along[:, :2] = np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], -1)
        turning[:, 2] = system.velocity(q, mean)[:, 2]
        ends = [system.momentum(q, turning + speed * along)[:, :2] for speed in (-1.1, 1.1)]
        return joined(np.stack([q[:, :2] + self.length * p for p in ends], 1)).T

    def labels(self, made):
        q = made.sols["projector"].q
        return [(x - 0.18, y, f"$g_{{{k}}}$") for k, (x, y) in enumerate(q[:, :2])]

    def frames(self, view):
        return [{"xlabel": "$x$", "ylabel": "$y$"}]

    def data(self, made):
        """A row for each node; nothing arrives at the first, nothing leaves the last."""
        sol = made.sols["projector"]
        names = ("k", "x", "y", "theta", "p_plus x", "p_plus y", "p_minus x", "p_minus y")
        arriving, leaving = np.full((2, len(sol.q), 2), np.nan)
        arriving[1:], leaving[:-1] = sol.p[1:, :2], sol.p_minus[:, :2]
        columns = (np.arange(len(sol.q)), *sol.q.T, *arriving.T, *leaving.T)
        return dict(zip(names, columns, strict=True))

    def plotted(self, call, view):
        return [
            "fig, ax = nh.plot.new()",
            'ax.plot(*projector.q[:, :2].T, "o", color="#333333")',
            "end, begin = projector.q[1:, :2].T, projector.q[:-1, :2].T",
            'to_scale = dict(angles="xy", scale_units="xy", scale=1)',
            'ax.quiver(*end, *projector.p[1:, :2].T, color="#0072B2", **to_scale)',
            'ax.quiver(*begin, *projector.p_minus[:, :2].T, color="#D55E00", **to_scale)',
            'ax.set_aspect("equal")',
        ]


@dataclass(frozen=True)
class Portrait(Statement):
    """A body in some configuration, with its angles; ``guides`` draws these.

    guides : (q, parameters by name) -> lines (from, to, style), arcs (at, radius, angles, name)
        and labels
    """

    guides: Callable = None
    half: float = 1.0  # of the width of the picture
    equal = True

    @property
    def fixed(self):
        return {"xlim": (-self.half, self.half), "ylim": (-0.8 * self.half, 0.8 * self.half)}

    def _parts(self, made):
        return body(made.call.system).parts(np.array(made.call.q0))

    def _guides(self, made):
        values = {s.name: x for s, x in made.call.system.parameters.items()}
        return self.guides(made.call.q0, values)

    def shapes(self, made, view):
        lines, arcs, _ = self._guides(made)
        dark, pale = {"color": "#333333", "linewidth": 2}, {"color": "#999999", "linewidth": 1}
        thin = {"color": "#555555", "linewidth": 1}
        found = [Shape(f"part {k}", *x.T, dark) for k, x in enumerate(self._parts(made))]
        for k, (start, end, style) in enumerate(lines):
            found.append(Shape(f"line {k}", *np.transpose([start, end]), pale | style))
        for k, (at, radius, ends, _) in enumerate(arcs):
            curve = ahead(at, np.linspace(*ends, 30), radius)
            found.append(Shape(f"arc {k}", *curve.T, thin))
        return found

    def labels(self, made):
        _, arcs, labels = self._guides(made)
        beside = [(*ahead(at, sum(ends) / 2, r + 0.14), text) for at, r, ends, text in arcs]
        return [*beside, *labels]

    def data(self, made):
        parts = self._parts(made)
        part = np.concatenate([np.full(len(p), k) for k, p in enumerate(parts)])
        x, y = np.concatenate(parts)[:, :2].T
        return {"part": part, "x": x, "y": y}

    def code(self, call, view):
        return "\n".join(
            [
                "import nhlab as nh",
                "",
                *written(call.system, self.setting.systems[0]),
                "fig, ax = nh.plot.new()",
                f"for points in nh.bodies.body(system).parts({[*call.q0]}):",
                '    ax.plot(*points.T, color="#333333")',
                'ax.set_aspect("equal")',
            ]
        )
