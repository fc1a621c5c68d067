"""What a figure of a paper is: words, a claim that can be judged, and the ``Figure`` that shows it.

``nhlab.course.figures`` lists the statements; from each come the plate in ``figures/`` (``plate``)
and the panel with sliders.
"""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..view import plot
from ..view.bodies import body
from ..view.figure import Axes, Curve, Drawing, Figure, Label, Runs, Shape, View, plain
from ..view.limits import LEAST
from ..view.panel import choice
from ..view.setting import Setting, written
from ..view.sheet import Sheet
from .colours import BLUE, DARK, MIDDLE, ORANGE, SLATE, STRONG
from .kit import ahead, joined

ENERGIES = ("energy", "midpoint energy", "projected energy")  # readings that keep the level of E
# A figure that stands still; the data map column names to equally long arrays.
Plate = namedtuple("Plate", "title figure data caption verdict")


class Row(NamedTuple):
    """One axes of a view: its label, and what is read of discrete and of classical methods."""

    ylabel: str
    discrete: str
    classical: str
    part: str = ""  # end of the names of the columns

    @property
    def mixed(self):
        return self.discrete != self.classical

    @property
    def least(self):
        """How far limits reach at least."""
        return LEAST if "constraint" in self.discrete else 0.0


@dataclass(frozen=True)
class Statement:
    """Words, and a setting of sliders whose untouched values are those of the figure.

    shows : what is drawn, at every setting
    at_first : what is true at the first values alone; also what the paper leaves open
    judge : as in ``Figure``;  note : found -> what the gallery adds
    views : name -> what a subclass makes a View of;  offers : as in ``Figure``
    """

    title: str
    shows: str
    at_first: str
    claim: str
    setting: Setting
    judge: Callable = None
    note: Callable = lambda found: ""
    size: tuple = (7.2, 3.8)
    views: dict = field(default_factory=lambda: {"": ()})
    offers: dict = field(default_factory=dict)
    second = ""

    @property
    def caption(self):
        """What is said below the plate, which stands still."""
        return f"{self.shows} {self.at_first}".strip()

    @property
    def moving_caption(self):
        """The same below a panel: it says which of it need not be true once a slider has moved."""
        text = self.at_first
        text = text[0].lower() + text[1:] if text[1:2].islower() else text
        return f"{self.shows} At the first values: {text}".strip()

    def view(self, name: str) -> View:
        """One of its views."""
        raise NotImplementedError

    def data(self, runs: Runs, shapes: list[Shape]) -> dict:
        """The table of the figure, columns of equal length; ``shapes`` are of its first view."""
        raise NotImplementedError

    def code(self, call, own, view: str) -> str:
        """The calls and the plot, as text."""
        return call.code(own, *self.plotted(call, view))

    def for_page(self) -> "Statement":
        """What of it a page shows that computes without Python."""
        return self

    def figure(self, first=None, tries=(), view=None) -> Figure:
        """What its panel shows; ``first`` and ``tries`` as in ``course.tries``, ``view`` the one on
        which it opens, if that is not the paper's."""
        controls = self.setting.controls()
        if len(self.views) > 1:
            controls = {"view": choice("view", list(self.views), view)} | controls
        claim = f" This panel opens on another view, {view}." if view else ""
        claim += f" Claim: {self.claim}" if self.judge else ""
        shown = self.for_page()
        return Figure(
            self.setting,
            controls,
            {name: self.view(name) for name in self.views},
            f"{self.title}. {self.moving_caption}{claim}",
            f"{self.title}. {self.claim}",
            self.judge,
            self.second,
            self.size,
            self.code,
            first=first,
            tries=tries,
            offers=self.offers,
            legend={"borderaxespad": 0.2, "columnspacing": 1.2},
            page=None if shown is self else shown.figure(),
        )


def plate(statement: Statement) -> Plate:
    """The figure as it stands in ``figures/``."""
    figure = statement.figure()
    sheet, view = Sheet(figure), next(iter(statement.views))
    sheet.show(statement.setting.defaults)
    verdict = statement.claim
    if statement.judge:
        holds, numbers = figure.verdict(sheet.runs, view, sheet.shapes)
        note = statement.note(figure.found(sheet.runs, view, sheet.shapes))
        verdict = f"Claim: {verdict} {'Borne out' if holds else 'Not borne out'}: {numbers}{note}."
    data = statement.data(sheet.runs, sheet.shapes)
    return Plate(statement.title, sheet.picture.figure, data, statement.caption, verdict)


# ---------------------------------------------------------------------------- curves


@dataclass(frozen=True)
class Curves(Statement):
    """A curve over time for each run; the views, of one or several Rows, differ in what is read."""

    columns: dict = field(default_factory=dict)  # run -> column of the data, name in the legend

    def view(self, name):
        rows = self.views[name]
        axes = [Axes("", row.ylabel, self._curves(row), "T", least=row.least) for row in rows]
        axes[-1] = axes[-1]._replace(xlabel="time $t$")
        # Where energies are drawn, not their change: DLA begins with the energy of the start, as
        # the projector method, whose first momentum is a reflected one, does not.
        true_run = "dla" if any(row.classical in ENERGIES for row in rows) else ""
        return View(axes, true_run=true_run, judged=self.judged(name))

    def judged(self, name: str) -> dict:
        """The runs whose errors are shown as bars: name -> what the legend calls them."""
        methods = self.setting.methods
        every = {k: label for k, (_, label) in self.columns.items()}
        return {k: x for k, x in every.items() if not methods[k].is_reference}

    def _curves(self, row):
        """A curve for each run; beside steps, the start has no partner."""
        curves = []
        for name, m in self.setting.methods.items():
            reading = row.discrete if m.discrete else row.classical
            label = self.columns[name][1] + ", each step" * row.mixed
            if not m.discrete:
                label = label.replace("each step", "nodes")
            source = plot.reading(reading, self.setting.systems[0]).source
            skip = int(row.mixed and not m.discrete)
            curves.append(Curve(name, source, plot.look(m), label, plain(label), skip))
        return curves

    def data(self, runs, shapes):
        rows, table = next(iter(self.views.values())), {}
        order = [*self.setting.methods]
        for shape in sorted(shapes, key=lambda shape: order.index(shape.name)):
            table.setdefault("t", shape.x)
            part = rows[shape.row].part
            table[self.columns[shape.name][0] + part] = shape.y
        return table

    def plotted(self, call, view):
        """Lines of code that draw a view."""
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

    second = "reference"

    def view(self, name):
        runs, logarithmic = self.views[name]
        curves = [self._curve(run) for run in runs]
        words = ("step $k$", "error in $\\mathbb{R}^3$")
        axes = Axes(*words, curves, "steps", logarithmic=logarithmic)
        axes = axes._replace(y=(1e-5, 10) if logarithmic else None)
        return View([axes], judged=self.judged(name))

    def judged(self, name):
        return {k: self.columns[k][1] for k in self.views[name][0]}

    def _curve(self, run):
        method, label = self.setting.methods[run], self.columns[run][1]
        own = getattr(method, "constraint_alpha", None) is not None
        look = plot.look(method) | ({"linestyle": ":"} if own else {})
        return Curve(run, {"what": "error", "x": "reference"}, look, label, plain(label))

    def data(self, runs, shapes):
        drawn = {x.name: x.y for x in shapes}
        return {"k": shapes[0].x} | {name: drawn[k] for k, (name, _) in self.columns.items()}

    def plotted(self, call, view):
        runs, logarithmic = self.views[view]
        return [
            "fig, ax = nh.plot.new()",
            f"for sol in ({', '.join(runs)}):",
            "    error = ((sol.q - reference.q) ** 2).sum(1) ** 0.5",
            "    ax.plot(error, label=nh.plot.label(sol.method), **nh.plot.look(sol.method))",
            "ax.legend()",
        ] + ['ax.set_yscale("log")'] * logarithmic

    def code(self, call, own, view):
        return call.code(own, *self.plotted(call, view), q1_of=self.second)


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

    def view(self, name):
        drawing = Drawing(self.shapes, self.labels, "projector")
        return View([Axes("$x$", "$y$", [], equal=True, drawing=drawing)])

    def for_page(self):
        """A page that computes without Python knows the momenta at inner nodes alone."""
        if not self.whole:
            return self
        return replace(self, whole=False, shows=self.shows.split(" Dashed")[0])

    def shapes(self, runs):
        """Nodes, arrows, and the lines of momenta in D."""
        sol = runs.sols["projector"]
        dots = {"color": DARK, "marker": "o", "linestyle": "none"}
        found = [Shape("nodes", *sol.q[:, :2].T, dots)]
        if len(sol.q) < 3:  # it stopped before a node had two neighbours
            return found
        q, mean = sol.q[1:-1], (sol.p[1:-1] + sol.p_minus[1:]) / 2
        dotted = {"color": MIDDLE, "linestyle": ":"}
        found.append(Shape("D", *self._in_D(sol.system, q, mean), dotted, label="in $D$"))
        arrive, leave = self._tails_and_tips(sol)
        for name, ends, colour, text in (
            ("p_plus", arrive, BLUE, "arriving $p^+$"),
            ("p_minus", leave, ORANGE, "leaving $p^-$"),
        ):
            look = {"color": colour, "linewidth": 2}
            found.append(Shape(name, *arrows(*ends), look, label=text))
        if self.whole:
            thin = {"color": STRONG, "linewidth": 1.2}
            carried = bent_arrows(leave[1], arrive[1], -0.22)
            mirrored = bent_arrows(arrive[1][:-1], leave[1][1:], -0.2)
            dashed = thin | {"linestyle": "--"}
            found.append(Shape("carried", *carried, dashed, label="$R^*$"))
            found.append(Shape("mirrored", *mirrored, thin, label="$P^*-Q^*$"))
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

    def labels(self, runs):
        """The names of the nodes, on the left and a little behind: arrows and D point elsewhere."""
        x, y, heading = runs.sols["projector"].q.T
        aside = np.cos(heading + 1.9), np.sin(heading + 1.9)
        names = [f"$g_{{{k}}}$" for k in range(len(x))]
        return [Label(*parts) for parts in zip(x, y, names, *aside, strict=True)]

    def data(self, runs, shapes):
        """A row for each node; nothing arrives at the first, nothing leaves the last."""
        sol = runs.sols["projector"]
        names = ("k", "x", "y", "theta", "p_plus x", "p_plus y", "p_minus x", "p_minus y")
        arriving, leaving = np.full((2, len(sol.q), 2), np.nan)
        arriving[1:], leaving[:-1] = sol.p[1:, :2], sol.p_minus[:, :2]
        columns = (np.arange(len(sol.q)), *sol.q.T, *arriving.T, *leaving.T)
        return dict(zip(names, columns, strict=True))

    def plotted(self, call, view):
        return [
            "fig, ax = nh.plot.new()",
            'ax.plot(*projector.q[:, :2].T, "o", color="black")',
            "end, begin = projector.q[1:, :2].T, projector.q[:-1, :2].T",
            'to_scale = dict(angles="xy", scale_units="xy", scale=1)',
            'ax.quiver(*end, *projector.p[1:, :2].T, color="tab:blue", **to_scale)',
            'ax.quiver(*begin, *projector.p_minus[:, :2].T, color="tab:orange", **to_scale)',
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

    def view(self, name):
        drawing, half = Drawing(self.shapes, self.labels), self.half
        limits = {"x": (-half, half), "y": (-0.8 * half, 0.8 * half), "bare": True}
        return View([Axes("", "", [], equal=True, drawing=drawing, **limits)])

    def parts(self, runs):
        """The outlines of the body, arrays of points."""
        return body(runs.call.system).parts(np.array(runs.call.q0))

    def _guides(self, runs):
        values = {s.name: x for s, x in runs.call.system.parameters.items()}
        return self.guides(runs.call.q0, values)

    def shapes(self, runs):
        """The body, and what shows its angles."""
        lines, arcs, _ = self._guides(runs)
        dark, pale = {"color": DARK, "linewidth": 2}, {"color": SLATE, "linewidth": 1}
        thin = {"color": STRONG, "linewidth": 1}
        found = [Shape(f"part {k}", *x.T, dark) for k, x in enumerate(self.parts(runs))]
        for k, (start, end, style) in enumerate(lines):
            found.append(Shape(f"line {k}", *np.transpose([start, end]), pale | style))
        for k, (at, radius, ends, _) in enumerate(arcs):
            curve = ahead(at, np.linspace(*ends, 30), radius)
            found.append(Shape(f"arc {k}", *curve.T, thin))
        return found

    def labels(self, runs):
        """The names of angles and lengths."""
        _, arcs, labels = self._guides(runs)
        beside = [(*ahead(at, sum(ends) / 2, r + 0.14), text) for at, r, ends, text in arcs]
        return [Label(*label) for label in (*beside, *labels)]

    def data(self, runs, shapes):
        parts = self.parts(runs)
        part = np.concatenate([np.full(len(p), k) for k, p in enumerate(parts)])
        x, y = np.concatenate(parts)[:, :2].T
        return {"part": part, "x": x, "y": y}

    def code(self, call, own, view):
        return "\n".join(
            [
                "import nhlab as nh",
                "",
                *written(call.system, own),
                "fig, ax = nh.plot.new()",
                f"for points in nh.bodies.body(system).parts({[*call.q0]}):",
                '    ax.plot(*points.T, color="black")',
                'ax.set_aspect("equal")',
            ]
        )
