"""What sliders say of runs: the calls of ``nh.integrate`` they stand for, and these as code.

The keys of the controls are ``h``, ``alpha``, ``rule``, ``T``, ``q0.<name>``, ``v0.<name>`` and
``par.<name>``: the prefixes keep apart a coordinate called alpha, a parameter called h and the
sliders of the method.
"""

import re
from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from numbers import Integral, Real

import numpy as np

from ..mechanics.catalogue import catalogue, machines, on_groups
from ..mechanics.velocities import complete_velocity, free_velocities, start_of
from ..run.loop import integrate
from .as_code import lines_of_system
from .panel import are_ends, choice, slider
from .recall import clean, plain

RULES = ["alpha rule", "symmetric rule"]
LABELS = {"h": "step size h", "alpha": "alpha", "T": "end time T"}


def triple(name, given, or_else=""):
    """(low, high, value), perhaps with a step, checked."""
    if not are_ends(given):
        raise ValueError(
            f"{name} = {given!r} must be {or_else}(low, high, value) of a slider, with "
            "low <= value <= high, all finite"
        )
    return tuple(map(float, given))


# Pages follow these two by translation.


def steps_within(T, h):
    """The number of steps h until T, at least one; none of the others leads beyond T."""
    return max(1, int(T / h + 1e-6))


def in_given_digits(x, given):
    """A number that was computed, as it was given if it is that but for rounding, else as one
    would write it."""
    return given if abs(x - given) <= 1e-11 + 1e-11 * abs(x) else clean(x)


@dataclass(frozen=True)
class Call:
    """The arguments of ``nh.integrate`` for runs from one start; the methods by name of the run."""

    system: object
    methods: dict
    q0: tuple
    v0: tuple
    h: float
    steps: int
    T: float | None  # where time axes end, if not with the run

    def run(self, name, most=None, **start):
        """One of the runs; ``most`` cuts it short, ``start`` may give q1 instead of v0."""
        steps = min(self.steps, most or self.steps)
        start = start or {"v0": self.v0}
        m = self.methods[name]
        return integrate(self.system, m, self.q0, **start, h=self.h, steps=steps, progress=False)

    def code(self, own, *after, q1_of=None):
        """The text of these calls; ``own`` is the system before its parameters were moved.

        With ``q1_of``, the name of a run, the others start from its second point.
        """
        lines = ["import nhlab as nh", "", *written(self.system, own)]
        lines.append(f"q0, v0 = {[*self.q0]}, {[*self.v0]}")
        for name, m in self.methods.items():
            start = "q0, v0" if name == q1_of or not q1_of else f"q0, q1={q1_of}.q[1]"
            run = f"{start}, h={self.h!r}, steps={self.steps}"
            lines.append(f"{name} = nh.integrate(system, {as_call(m)}, {run})")
        return "\n".join([*lines, *after])


def as_call(method):
    """A method as the reader would write it, with those it is composed of."""
    return re.sub(r"\w+\(", r"nh.\g<0>", repr(method))


def written(system, own):
    """Lines that make a system: a call of the catalogue, or its formulas; of one that cannot be
    written, ``set`` on that of the reader."""
    for title, make in (catalogue | machines | on_groups).items():
        if make.title == own.name:
            rule = own.rule if title in on_groups else None
            plain = _plain(make, rule)
            if plain.key == own.key:
                changed = _changed(system, plain)
                changed += [f"rule={rule!r}"] if rule and rule != _plain(make).rule else []
                return [f"system = nh.systems.{title}({', '.join(changed)})"]
    changed, name = _changed(system, own), f", {own.name!r}" * bool(own.name)
    lines = lines_of_system(own) or (f"# system is your own{name}: give it this name first",)
    return [*lines] + [f"system = system.set({', '.join(changed)})"] * bool(changed)


@lru_cache
def _plain(make, rule=None):
    """A system of the catalogue with its own parameters; stating it takes longer than the rest."""
    return make(rule=rule) if rule else make()


def _changed(system, plain):
    pairs = system.parameters.items()
    return [f"{s.name}={x!r}" for s, x in pairs if x != plain.parameters[s]]


def named(methods):
    """The methods by a name for their run: dla, rk4, dla_2."""
    found, kinds = {}, Counter()
    for m in methods:
        name = type(m).__name__.lower()
        kinds[name] += 1
        found[name if kinds[name] == 1 else f"{name}_{kinds[name]}"] = m
    return found


@dataclass(eq=False)
class Setting:
    """Systems, methods and the ranges of sliders; ``call`` reads the values of the controls.

    h, alpha : (low, high, value), h also a number for steps that no slider changes;  alpha and
        ``rule`` act on every method that has them
    steps or T : the length of the runs; T may be (low, high, value)
    sliders : keys "q0.x", "v0.vx", "par.a" -> (low, high) or (low, high, step), or () for a range
        near the value
    """

    systems: list
    methods: dict
    h: tuple | float = ()
    alpha: tuple | None = None
    rule: bool = False
    steps: int | None = None
    T: object = None
    q0: tuple | None = None
    v0: tuple | None = None
    sliders: dict | tuple = ()

    def __post_init__(self):
        self._check_lengths()
        self.sliders = dict(self.sliders)
        velocities = {key[3:] for key in self.sliders if key.startswith("v0.")}
        self.starts = []
        for s in self.systems:
            q0, v0 = start_of(s, self.q0, self.v0)
            free = free_velocities(s, q0, [k for k, v in enumerate(s.v) if str(v) in velocities])
            whole = complete_velocity(s, q0, v0, free)
            if self.v0 is not None and not np.allclose(v0, whole, 1e-6, 1e-6):
                near = [clean(x) for x in whole]
                raise ValueError(f"v0 = {v0.tolist()} violates the constraints; {near} does not")
            self.starts.append((q0, v0, free))
        self.ranges = self._steps()
        if self.alpha is not None:
            self.ranges["alpha"] = triple("alpha", self.alpha)
            for x in self.ranges["alpha"]:
                self._methods({"alpha": x})  # which refuse what is no alpha
        if not (self.steps or (isinstance(self.T, Real) and self.T > 0)):
            self.ranges["T"] = triple("T", self.T, "a positive number or ")
        self.ranges |= self._start_and_parameters()

    def _steps(self):
        """The range of h by its name, if it has a slider; a drawing has no steps."""
        if not self.methods or (isinstance(self.h, Real) and 0 < self.h < np.inf):
            return {}
        ends = triple("h", self.h, "a positive number or ")
        if ends[0] <= 0:
            raise ValueError(f"h = {self.h!r} must begin above 0, as (0.01, {self.h[1]}, ...)")
        return {"h": ends}

    @property
    def step(self):
        """The step where no slider gives it."""
        return float(self.h) if isinstance(self.h, Real) else 1.0

    def _check_lengths(self):
        """Refuse lengths that are none, and sliders that no method follows."""
        if self.steps is not None and not (isinstance(self.steps, Integral) and self.steps > 0):
            raise ValueError(f"steps = {self.steps!r} must be a whole number, at least 1")
        if self.steps and self.T is not None:
            raise ValueError(f"give steps = {self.steps} or T = {self.T}, not both")
        for name, field in (("alpha", "alpha"), ("rule", "symmetric")):
            if getattr(self, name) and not any(hasattr(m, field) for m in self.methods.values()):
                raise ValueError(f"{name}: none of {[*self.methods.values()]} has it; leave it out")

    def _start_and_parameters(self):
        """The ranges of the other sliders, between the ends given or near the value."""
        s, (q0, v0, _), known = self.systems[0], self.starts[0], {}
        for prefix, names, numbers in (
            ("q0", s.q, q0),
            ("v0", s.v, v0),
            ("par", s.parameters, s.parameters.values()),
        ):
            known |= {f"{prefix}.{x}": float(y) for x, y in zip(names, numbers, strict=True)}
        for key in self.sliders:
            if key not in known:
                raise ValueError(f"{key!r} is unknown for {s!r}; it has {list(known)}")
        made = {}
        for key, x in known.items():
            if key not in self.sliders:
                continue
            ends = self.sliders[key]
            near = sorted((x / 2, 2 * x)) if key.startswith("par.") and x else (x - 1, x + 1)
            low, high, *step = ends or near
            made[key] = triple(key, (low, high, x, *step))
        return made

    @property
    def defaults(self):
        """The values of the controls before one is moved."""
        values = {key: ends[2] for key, ends in self.ranges.items()}
        if not self.rule:
            return values
        of = (m.symmetric for m in self.methods.values() if hasattr(m, "symmetric"))
        rule = {"rule": RULES[next(of, False)]}
        method = {key: values[key] for key in ("h", "alpha") if key in values}
        return method | rule | values

    def controls(self):
        """The sliders, and a choice between the rules."""
        made = {}
        for key, value in self.defaults.items():
            prefix, _, name = key.rpartition(".")
            label = f"{name}(0)" if prefix in ("q0", "v0") else LABELS.get(key, name)
            ends = self.ranges.get(key)
            made[key] = slider(label, *ends) if ends else choice(label, RULES, value)
        return made

    def call(self, values):
        """What the controls ask for."""
        values = plain(values)
        k = values.get("system", 0)
        s, (q0, v0, free) = self.systems[k], self.starts[k]
        moved = {key[4:]: x for key, x in values.items() if key.startswith("par.")}
        s = s.set(**moved) if moved else s
        q0, given = (
            [values.get(f"{prefix}.{x}", y) for x, y in zip(names, numbers, strict=True)]
            for prefix, names, numbers in (("q0", s.q, q0.tolist()), ("v0", s.v, v0.tolist()))
        )
        v0 = complete_velocity(s, np.array(q0), given, free)
        v0 = [in_given_digits(x, y) for x, y in zip(v0.tolist(), given, strict=True)]
        h, T = values.get("h", self.step), values.get("T", self.T)
        steps = self.steps or steps_within(T, h)
        T = None if self.steps else T
        return Call(s, self._methods(values), tuple(q0), tuple(v0), h, steps, T)

    def _methods(self, values):
        asked = {"alpha": values["alpha"]} if "alpha" in values else {}
        if "rule" in values:
            asked["symmetric"] = values["rule"] == RULES[1]

        def changed(m):
            own = {f.name for f in fields(m)}
            return replace(m, **{k: x for k, x in asked.items() if k in own})

        return {name: changed(m) for name, m in self.methods.items()}

    def own(self, values):
        """The system chosen, with the parameters it was given."""
        return self.systems[values.get("system", 0)]
