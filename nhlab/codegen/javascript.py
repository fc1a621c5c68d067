"""The same text in JavaScript, for pages that compute without Python.

``translated`` goes over Python's own ``ast``: assignments, arithmetic, loops, breaks and calls of
known functions, and of the rest of Python what short functions of numbers and arrays need.  What
arrays and dicts are asked for (``x.max()``, ``found.items()``, ``f"{x:.2e}"``) is answered by the
objects ``py`` and ``np`` of the page.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from functools import cache, partial

from .printing import MATH

WORDS = """abstract arguments await break case catch class const continue debugger default delete do
else enum eval export extends false finally for function if implements import in instanceof
interface let new null package private protected public return static super switch this throw true
try typeof undefined var void while with yield Math NaN Infinity np py Object""".split()
KNOWN = {name: f"Math.{name}" for name in MATH} | {"fabs": "Math.abs", "abs": "np.abs"}
KNOWN |= {name: f"py.{name}" for name in ("len", "max", "min", "next", "round", "sum")}
KNOWN |= {"int": "Math.trunc", "float": "Number", "str": "String"}
CONSTANTS = {"nan": "NaN", "inf": "Infinity", True: "true", False: "false", None: "null"}
ARRAYS = """abs arange array array_split ceil diff divide floor isfinite log10 maximum minimum ptp
sign sqrt subtract take where""".split()
# What arrays, dicts and strings are asked for.
ASKED = ("get", "index", "items", "join", "max", "min", "pop", "startswith", "values")
# How tightly an operator binds; in Python and JavaScript alike but for "not", "&" and "|".
CHOICE, OR, AND, COMPARED, SUM, PRODUCT, UNARY, ATOM = range(8)
BINARY = {ast.Add: ("+", SUM), ast.Sub: ("-", SUM), ast.Mult: ("*", PRODUCT),
          ast.Div: ("/", PRODUCT), ast.Mod: ("%", PRODUCT),
          ast.BitAnd: ("&&", AND), ast.BitOr: ("||", OR)}  # fmt: skip
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "===", ast.NotEq: "!==",
           ast.Is: "===", ast.IsNot: "!=="}  # fmt: skip


@cache  # the same step is on several pages
def translated(text: str, *names: str) -> str:
    """Functions of a generated text in JavaScript, by name, with those that they call."""
    functions = {x.name: x for x in ast.parse(text).body if isinstance(x, ast.FunctionDef)}
    found, left = {}, list(names)
    while left:
        name = left.pop()
        if name not in found:
            found[name] = _Function(functions[name], {*functions}).text
            called = (x.func for x in ast.walk(functions[name]) if isinstance(x, ast.Call))
            left += [x.id for x in called if getattr(x, "id", "") in functions]
    return "\n".join(found.values())


def of_function(function, name):
    """A Python function with all it needs of its module, under a name in JavaScript."""
    given = {}
    if isinstance(function, partial):  # its keywords are the last arguments
        function, given = function.func, function.keywords
    own, rest = _name(function), [json.dumps(x) for x in given.values()]
    own = f"(...x) => {own}({', '.join(['...x', *rest])})" if rest else own
    return "\n".join([*_needed(function, {}).values(), f"const {name} = {own};"])


def _needed(function, found):
    """The texts of a function and of the functions and tables it uses, by name."""
    tree = _tree(function)
    used = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)}
    own = {k: x for k, x in function.__globals__.items() if k in used and not inspect.ismodule(x)}
    found[function.__name__] = _Function(tree, {*own}).text
    for name, x in own.items():
        if name not in found and inspect.isfunction(x):
            _needed(x, found)
        elif name not in found:
            found[name] = f"const {_named(name)} = {json.dumps(x)};"
    return found


def _tree(function):
    """Of its source, without annotations; a lambda is the only one in its line, perhaps an entry
    of a dict."""
    source = textwrap.dedent(inspect.getsource(function)).strip()
    if function.__name__ != "<lambda>":
        tree = ast.parse(source).body[0]
        tree.returns = None
        for x in (*tree.args.args, *tree.args.kwonlyargs):
            x.annotation = None
        return tree
    nodes = ast.walk(ast.parse(f"{{{source}}}"))
    (found,) = (x for x in nodes if isinstance(x, ast.Lambda))
    body = [ast.Return(found.body)]
    return ast.FunctionDef(name=_name(function), args=found.args, body=body)


def _name(function):
    return "lambda$" if function.__name__ == "<lambda>" else _named(function.__name__)


def _named(name):
    return f"{name}$" if name in WORDS else name


class _Function:
    """One function: its text, and what is known where it stands."""

    def __init__(self, tree, known):
        self.known, given = known, [x.arg for x in (*tree.args.args, *tree.args.kwonlyargs)]
        lines = [line for x in tree.body for line in self._line(x)]
        nodes = [*ast.walk(tree)]
        stored = dict.fromkeys(x.id for x in nodes if isinstance(x, ast.Name) and _is_stored(x))
        inner = {x.id for y in nodes if isinstance(y, ast.comprehension)
                 for x in ast.walk(y.target) if isinstance(x, ast.Name)}  # fmt: skip
        names = {_named(x): None for x in stored if x not in {*given, *inner}}
        names |= {"$": None} if any(line.startswith("$ = ") for line in lines) else {}
        head = ", ".join(self._arguments(tree.args))
        body = [f"let {', '.join(names)};"] * bool(names) + lines
        self.text = "\n".join([f"function {_named(tree.name)}({head}) {{", *body, "}"])

    def _arguments(self, args):
        names, values = [_named(x.arg) for x in args.args], list(map(self.put, args.defaults))
        values = [None] * (len(names) - len(values)) + values
        return [x if y is None else f"{x} = {y}" for x, y in zip(names, values, strict=True)]

    # ---- statements

    def _line(self, x):
        kind = type(x).__name__
        if not hasattr(self, f"_on_{kind}"):
            raise ValueError(f"{kind} is not translated to JavaScript: {ast.unparse(x)}")
        return getattr(self, f"_on_{kind}")(x)

    def _block(self, head, lines):
        return [f"{head} {{", *(line for x in lines for line in self._line(x)), "}"]

    def _on_Assign(self, x):
        *also, target = x.targets
        if also:
            return [f"{' = '.join(map(self.put, x.targets))} = {self.put(x.value)};"]
        if isinstance(target, ast.Tuple):  # one by one, which is faster than all at once
            found = self.put(x.value)
            parts = enumerate(map(self.put, target.elts))
            return [f"$ = {found};", *(f"{name} = $[{k}];" for k, name in parts if name != "_")]
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            return [f"{self.put(target.value)}.splice(0, Infinity, ...{self.put(x.value)});"]
        return [f"{self.put(target)} = {self.put(x.value)};"]

    def _on_AugAssign(self, x):
        if isinstance(x.value, ast.Tuple):  # a list is extended
            return [f"{self.put(x.target)}.push({', '.join(map(self.put, x.value.elts))});"]
        return [f"{self.put(x.target)} {BINARY[type(x.op)][0]}= {self.put(x.value)};"]

    def _on_For(self, x):
        name, turns = self.put(x.target), x.iter
        if isinstance(turns, ast.Tuple):
            values = [getattr(y, "value", None) for y in turns.elts]
            if values != [*range(len(values))]:
                return self._block(f"for ({name} of {self.put(turns)})", x.body)
            first, end = "0", str(len(values))
        elif isinstance(turns, ast.Call) and ast.unparse(turns.func) == "range":
            first, end = ["0", *map(self.put, turns.args)][-2:]
        else:
            raise ValueError(f"no loop of JavaScript goes over {ast.unparse(turns)}")
        return self._block(f"for ({name} = {first}; {name} < {end}; {name}++)", x.body)

    def _on_While(self, x):
        return self._block(f"while ({self.put(x.test)})", x.body)

    def _on_If(self, x):
        other = self._block("else", x.orelse) if x.orelse else []
        return [*self._block(f"if ({self.put(x.test)})", x.body), *other]

    def _on_Break(self, x):
        return ["break;"]

    def _on_Continue(self, x):
        return ["continue;"]

    def _on_Return(self, x):
        return [f"return {self.put(x.value)};"]

    def _on_Expr(self, x):
        return []  # docstrings

    # ---- expressions

    def put(self, x, least=CHOICE):
        """The text of an expression, in parentheses if it binds less tightly than ``least``."""
        kind = type(x).__name__
        if not hasattr(self, f"_put_{kind}"):
            raise ValueError(f"{kind} is not translated to JavaScript: {ast.unparse(x)}")
        text, binds = getattr(self, f"_put_{kind}")(x)
        return f"({text})" if binds < least else text

    def _all(self, nodes):
        return ", ".join(map(self.put, nodes))

    def _put_Constant(self, x):
        if isinstance(x.value, (bool, type(None))):
            return CONSTANTS[x.value], ATOM
        return json.dumps(x.value), ATOM

    def _put_Name(self, x):
        return CONSTANTS.get(x.id) or _named(x.id), ATOM

    def _put_Tuple(self, x):
        return f"[{self._all(x.elts)}]", ATOM

    _put_List = _put_Tuple

    def _put_BinOp(self, x):
        if isinstance(x.op, ast.FloorDiv):
            return f"Math.floor({self.put(x.left, PRODUCT)}/{self.put(x.right, UNARY)})", ATOM
        if isinstance(x.op, ast.Pow):
            return f"Math.pow({self._all([x.left, x.right])})", ATOM
        if type(x.op) not in BINARY:
            raise ValueError(f"this operator is not translated to JavaScript: {ast.unparse(x)}")
        sign, binds = BINARY[type(x.op)]
        sign = sign if binds == PRODUCT else f" {sign} "  # a - -b needs its spaces
        return f"{self.put(x.left, binds)}{sign}{self.put(x.right, binds + 1)}", binds

    def _put_UnaryOp(self, x):
        sign = "!" if isinstance(x.op, (ast.Not, ast.Invert)) else "-"
        return f"{sign}{self.put(x.operand, ATOM)}", UNARY

    def _put_BoolOp(self, x):
        sign, binds = ("&&", AND) if isinstance(x.op, ast.And) else ("||", OR)
        return f" {sign} ".join(self.put(y, binds + 1) for y in x.values), binds

    def _put_Compare(self, x):
        sides, found = [x.left, *x.comparators], []
        for a, sign, b in zip(sides, x.ops, x.comparators, strict=False):
            sign = COMPARE[type(sign)]
            found.append(f"{self.put(a, COMPARED + 1)} {sign} {self.put(b, COMPARED + 1)}")
        return " && ".join(found), COMPARED if len(found) == 1 else AND

    def _put_IfExp(self, x):
        parts = [self.put(y, OR) for y in (x.test, x.body)]
        return f"{parts[0]} ? {parts[1]} : {self.put(x.orelse)}", CHOICE

    def _put_Call(self, x):
        args = [self.put(y) for y in x.args]
        if x.keywords:
            args.append(f"{{{', '.join(f'{k.arg}: {self.put(k.value)}' for k in x.keywords)}}}")
        if isinstance(x.func, ast.Attribute) and x.func.attr in ASKED:
            return f"py.{x.func.attr}({', '.join([self.put(x.func.value), *args])})", ATOM
        return f"{self._called(x.func)}({', '.join(args)})", ATOM

    def _called(self, f):
        text = ast.unparse(f)
        if isinstance(f, ast.Attribute) and (not text.startswith("np.") or f.attr in ARRAYS):
            return self.put(f)
        if text in self.known:
            return _named(text)
        if text in KNOWN:
            return KNOWN[text]
        raise ValueError(f"the function {text} is unknown in JavaScript; known are {[*KNOWN]}")

    def _put_Attribute(self, x):
        whole = "np" if ast.unparse(x.value) == "np" else self.put(x.value, ATOM)
        return f"{whole}.{x.attr}", ATOM

    def _put_Subscript(self, x):
        whole, at = self.put(x.value, ATOM), x.slice
        if isinstance(at, ast.Slice):
            ends = [self.put(y) if y else z for y, z in ((at.lower, "0"), (at.upper, "Infinity"))]
            return f"{whole}.slice({', '.join(ends)})", ATOM
        if isinstance(at, ast.UnaryOp):
            return f"{whole}.at({self.put(at)})", ATOM
        return f"{whole}[{self.put(at)}]", ATOM

    def _put_JoinedStr(self, x):
        return " + ".join(['""', *(self.put(y, PRODUCT) for y in x.values)]), SUM

    def _put_FormattedValue(self, x):
        spec = ast.literal_eval(x.format_spec.values[0]) if x.format_spec else ""
        return f"py.format({self.put(x.value)}, {json.dumps(spec)})", ATOM

    def _put_GeneratorExp(self, x):
        return self._over(x, self.put(x.elt)), ATOM

    _put_ListComp = _put_GeneratorExp

    def _put_Dict(self, x):
        if None in x.keys:
            raise ValueError(f"this dict is not translated to JavaScript: {ast.unparse(x)}")
        pairs = zip(x.keys, x.values, strict=True)
        return f"({{{', '.join(f'[{self.put(k)}]: {self.put(y)}' for k, y in pairs)}}})", ATOM

    def _put_DictComp(self, x):
        pair = f"[{self.put(x.key)}, {self.put(x.value)}]"
        return f"Object.fromEntries({self._over(x, pair)})", ATOM

    def _over(self, x, value):
        (one,) = x.generators
        head, whole = f"({self.put(one.target)}) =>", self._turns(one.iter)
        for test in one.ifs:
            whole += f".filter({head} {self.put(test)})"
        return f"{whole}.map({head} {value})"

    def _turns(self, x):
        """What a comprehension goes over: an array, or range(n) as one."""
        if isinstance(x, ast.Call) and ast.unparse(x.func) == "range":
            (count,) = x.args
            return f"Array.from({{length: {self.put(count)}}}, (_, k) => k)"
        return self.put(x, ATOM)


def _is_stored(x):
    return isinstance(x.ctx, ast.Store)
