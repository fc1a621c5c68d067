"""Eight members of an ensemble side by side in the compiled loop: does it pay?

    python tests/benchmarks/side_by_side.py

The generated ``step`` is compiled as it is, for numbers of another type: ``Lanes``, eight doubles
in one vector of LLVM, with the arithmetic and the ``where`` and ``all_`` that the text asks for.
Newton's loop goes on until all eight members are done; a member that is done keeps its numbers, as
the text does it for arrays.  sin and cos are those of the C library, lane by lane, so that every
member gets the digits of its single run; or, to see what they cost, a polynomial of all lanes that
is right to 1e-15 or so where its argument is small.

The generated text has to be changed little: loads and stores of lanes, and a False of all lanes.
All contestants take the same steps of the same members in turns.  The smallest CPU time of each is
taken, for a step of one member; ``rows``: every step is stored, ``last``: the last one alone.
"""

import math
import operator
import re

import numba
import numpy as np
from cases import CASES
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic, models, overload, register_model
from timing import cpu, turns

import nhlab as nh
from nhlab.run.loop import Run
from nhlab.run.start import Start

WIDTH, STEPS, TURNS, MEMBERS = 8, 20_000, 9, 16
BLOCK = 200  # steps whose rows are stored by lanes before they are moved to their members
DOUBLE, INT = ir.DoubleType(), ir.IntType(32)
VECTOR = {"double": ir.VectorType(DOUBLE, WIDTH), "bool": ir.VectorType(ir.IntType(1), WIDTH)}

# ---------------------------------------------------------------------------- the type


class LanesType(types.Type):
    def __init__(self, kind):
        self.kind = kind
        super().__init__(name=f"{kind} x {WIDTH}")


LANES, MASK = LanesType("double"), LanesType("bool")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, VECTOR[kind.kind])


def vectors(context, builder, signature, values):
    """The operands as vectors; a number is the same in all lanes."""
    for x, kind in zip(values, signature.args, strict=True):
        if isinstance(kind, LanesType):
            yield x
            continue
        own = types.boolean if isinstance(kind, types.Boolean) else types.float64
        vector = VECTOR["bool" if own == types.boolean else "double"]
        x, nothing = context.cast(builder, x, kind, own), ir.Constant(vector, ir.Undefined)
        x = context.get_value_as_data(builder, own, x) if own == types.float64 else x
        first = builder.insert_element(nothing, x, INT(0))
        zeros = ir.Constant(ir.VectorType(INT, WIDTH), [0] * WIDTH)
        yield builder.shuffle_vector(first, nothing, zeros)


def of_lanes(result, count, code):
    """A function of so many operands, numbers or lanes, with this code for vectors."""
    if count == 1:

        @intrinsic
        def apply(typing, a):
            return result(a), lambda c, b, s, v: code(b, *vectors(c, b, s, v))
    elif count == 2:

        @intrinsic
        def apply(typing, a, b):
            return result(a, b), lambda c, b, s, v: code(b, *vectors(c, b, s, v))
    else:

        @intrinsic
        def apply(typing, a, b, d):
            return result(a, b, d), lambda c, b, s, v: code(b, *vectors(c, b, s, v))

    return apply


def are_lanes(*kinds):
    return any(isinstance(x, LanesType) for x in kinds)


def define(op, result, code):
    apply = of_lanes(result, 2, code)
    overload(op, inline="always")(
        lambda a, b: (lambda a, b: apply(a, b)) if are_lanes(a, b) else None
    )


for op, name in zip("add sub mul truediv".split(), "fadd fsub fmul fdiv".split(), strict=True):
    define(getattr(operator, op), LANES, lambda b, x, y, name=name: getattr(b, name)(x, y))
for op, sign in dict(lt="<", le="<=", gt=">", eq="==").items():
    define(getattr(operator, op), MASK, lambda b, x, y, sign=sign: b.fcmp_ordered(sign, x, y))
for op in ("and_", "or_"):
    define(getattr(operator, op), MASK, lambda b, x, y, op=op: getattr(b, op)(x, y))
negative = of_lanes(LANES, 1, lambda b, x: b.fneg(x))
overload(operator.neg, inline="always")(lambda a: (lambda a: negative(a)) if are_lanes(a) else None)


def called(name):
    def code(b, x):
        kind = ir.FunctionType(x.type, [x.type])
        return b.call(cgutils.get_or_insert_function(b.module, kind, f"{name}.v{WIDTH}f64"), [x])

    return code


def lane_by_lane(name):
    def code(b, x):
        f, found = b.module.declare_intrinsic(name, [DOUBLE]), ir.Constant(x.type, ir.Undefined)
        for k in range(WIDTH):
            y = b.call(f, [b.extract_element(x, INT(k))])
            found = b.insert_element(found, y, INT(k))
        return found

    return of_lanes(LANES, 1, code)


def all_lanes(b, mask):
    bits = b.bitcast(mask, ir.IntType(WIDTH))
    return b.icmp_unsigned("==", bits, ir.IntType(WIDTH)(2**WIDTH - 1))


absolute, rounded = of_lanes(LANES, 1, called("llvm.fabs")), of_lanes(LANES, 1, called("llvm.rint"))
select = of_lanes(LANES, 3, lambda b, mask, x, y: b.select(mask, x, y))
every_lane = of_lanes(types.boolean, 1, all_lanes)


def place(context, b, kind, array, k):
    whole = context.make_array(kind)(context, b, array)
    first = cgutils.get_item_pointer(context, b, kind, whole, [k, k.type(0)])
    return b.bitcast(first, VECTOR["double"].as_pointer())


@intrinsic
def load(typing, array, k):
    def code(c, b, s, v):
        found = b.load(place(c, b, s.args[0], *v))
        found.align = 8
        return found

    return LANES(array, types.intp), code


@intrinsic
def store(typing, array, k, x):
    def code(c, b, s, v):
        b.store(v[2], place(c, b, s.args[0], *v[:2]), align=8)
        return c.get_dummy_value()

    return types.none(array, types.intp, LANES), code


# ---------------------------------------------------------------------------- what the text calls


@numba.njit(inline="always")
def fabs(x):
    return absolute(x)


@numba.njit(inline="always")
def all_(mask):
    return every_lane(mask)


def where(condition, a, b):
    raise NotImplementedError("compiled, never called")


@overload(where, inline="always")
def _where(condition, a, b):
    if are_lanes(condition):
        return lambda condition, a, b: select(condition, a, b)
    return lambda condition, a, b: a if condition else b


PI = [1.5707963109016418, 1.5893254712295857e-08, 6.123233995736766e-17]  # pi/2 in three parts
SIN = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9)]
COS = [(-1) ** k / math.factorial(2 * k) for k in range(9)]


def polynomial(name):
    """sin or cos of all lanes by Taylor's series on [-pi/4, pi/4]."""
    first = 0.0 if name == "sin" else 1.0
    s0, s1, s2, s3, s4, s5, s6, s7, s8 = SIN
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = COS
    pi0, pi1, pi2 = PI
    half = 2 / math.pi

    @numba.njit
    def f(x):
        k = rounded(x * half)
        r = ((x - k * pi0) - k * pi1) - k * pi2
        z = r * r
        s = r * (s0 + z * (s1 + z * (s2 + z * (s3 + z * (s4 + z * (s5 + z * (s6 + z * s7)))))))
        c = c0 + z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * (c6 + z * (c7 + z * c8)))))))
        quarter = k + first
        odd = quarter - 2.0 * rounded(quarter * 0.5)  # 0, 1 or -1
        two = rounded((quarter - fabs(odd)) * 0.5)
        sign = 1.0 - 2.0 * fabs(two - 2.0 * rounded(two * 0.5))
        return sign * select(odd * odd > 0.5, c, s)

    return f


TRIGONOMETRY = {
    "libm": {"sin": lane_by_lane("llvm.sin"), "cos": lane_by_lane("llvm.cos")},
    "polynomial": {"sin": polynomial("sin"), "cos": polynomial("cos")},
}


# ---------------------------------------------------------------------------- the contestants


def side_by_side(program, trigonometry):
    """``run`` of eight members: state (width, 8), out (kept*width, 8), shares and h in lanes."""
    text = program.text.split("\ndef loop(")[0]
    head, run = text.split("\ndef run(")
    for name in ("all_", "where"):
        head = re.sub(rf"def {name}\(.*?\n\n\n", "", head, flags=re.S)
    signature, body = run.split("\n", 1)
    width = body.count(" = state[")
    shares = re.findall(r"share_\w+", signature)
    body = "".join(f"    {x} = load({x}, 0)\n" for x in shares) + body
    body = re.sub(r"(\w+) = state\[(\d+)\]", r"\1 = load(state, \2)", body)
    body = re.sub(r"state\[(\d+)\] = (\w+)", r"store(state, \1, \2)", body)
    body = re.sub(r"out\[row, (\d+)\] = (\w+)", rf"store(out, row*{width} + \1, \2)", body)
    body = body.replace("if not new[0]:", "if not all_(new[0]):")
    body = body.replace("_, h, ", "_, _, ")
    head = head.replace("ok = False", f"ok = {shares[0]} < 0.0")  # False in all lanes
    text, space = f"{head}\ndef run({signature}\n{body}", {}
    exec(compile(text, "<lanes>", "exec"), space)
    space |= {"fabs": fabs, "all_": all_, "where": where, "load": load, "store": store}
    space |= TRIGONOMETRY[trigonometry]
    space["step"] = numba.njit(space["step"], error_model="numpy", forceinline=True)
    return numba.njit(space["run"], error_model="numpy", nogil=True)


@numba.njit
def deal(out, rows, begin, width):
    """Give each member its rows of a block."""
    for n in range(BLOCK):
        for k in range(WIDTH):
            for i in range(width):
                rows[k, begin + n, i] = out[(n + 1) * width + i, k]


class Members:
    """MEMBERS runs of a case from starts near each other."""

    def __init__(self, name, every):
        case = CASES[name]
        system = getattr(nh.systems, name)()
        system = system.set(**{k: x for k, x in case.parameters.items()})
        v0 = case.v0 * np.linspace(1, 1.1, MEMBERS)[:, None]
        self.about = dict(h=case.h, steps=STEPS, every=every)
        self.call = (system, nh.DLA(), case.q0, v0)
        self.start = Start(*self.call, parameters={}, **self.about)
        self.program, self.loops = self.start.program, {}

    def single(self):
        one = self.start.member(0)
        return cpu(lambda: Run(one, "numba").go(progress=False))[0] / STEPS

    def ensemble(self, backend):
        summary = "last" if self.about["every"] > 1 else None
        how = dict(backend=backend, progress=False, summary=summary)
        return cpu(lambda: nh.ensemble(*self.call, **self.about, **how))[0] / (STEPS * MEMBERS)

    def loop(self):
        """Today's loop over the same members, nothing else."""

        def go():
            rows = []
            for k in range(WIDTH):
                one = self.start.take(slice(k, k + 1))
                out, state = one.empty_rows(), one.state[0].copy()
                args = one.method.arguments(one.system, one.shares[0].tolist())
                rest = one.every, 0.0, float(one.h[0]), *args
                assert self.program.numba(state, out, 0, STEPS, *rest) == STEPS
                rows.append(out)
            return rows

        seconds, self.rows = cpu(go)
        return seconds / (STEPS * WIDTH)

    def lanes(self, trigonometry):
        start = self.start.take(slice(WIDTH))
        if trigonometry not in self.loops:
            self.loops[trigonometry] = side_by_side(self.program, trigonometry)
        f, width = self.loops[trigonometry], start.layout.width
        constants = start.method.arguments(start.system, ())

        def go():
            state = np.ascontiguousarray(start.state.T)
            shares = [np.ascontiguousarray(x[None]) for x in start.shares.T]
            out, rows = np.empty(((BLOCK + 1) * width, WIDTH)), start.empty_rows(WIDTH)
            rest = start.every, 0.0, float(start.h[0]), *constants, *shares
            if start.every > 1:
                assert f(state, out, 0, STEPS, *rest) == STEPS
                rows[:, 1] = state.T
                return rows
            for begin in range(0, STEPS, BLOCK):
                assert f(state, out, 0, BLOCK, *rest) == BLOCK
                deal(out, rows, begin + 1, width)
            return rows

        seconds, rows = cpu(go)
        if start.every == 1:
            self.gaps[trigonometry] = max(
                np.abs(a[1:] - b[1:]).max() for a, b in zip(rows, self.rows, strict=True)
            )
        return seconds / (STEPS * WIDTH)

    def measure(self):
        self.gaps = {}
        contestants = {"single run": self.single, "loop": self.loop}
        contestants |= {"ensemble": lambda: self.ensemble("numba")}
        contestants |= {f"lanes, {x}": lambda x=x: self.lanes(x) for x in TRIGONOMETRY}
        for f in contestants.values():
            f()  # compiles
        return {name: min(x) for name, x in turns(contestants, TURNS).items()}


def main():
    for name in ("particle", "snakeboard"):
        for what, every in (("rows", 1), ("last", STEPS)):
            members = Members(name, every)
            least = members.measure()
            print(f"{name}, {what}:")
            for who, seconds in least.items():
                print(f"  {who:20} {1e9 * seconds:6.1f} ns, {least['loop'] / seconds:.2f} x loop, "
                      f"{least['ensemble'] / seconds:.2f} x ensemble")  # fmt: skip
            print("  digits beside single runs:", members.gaps)


if __name__ == "__main__":
    main()
