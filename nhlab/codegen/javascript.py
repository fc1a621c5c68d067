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
from typing import TYPE_CHECKING, Any

from .printing import MATH

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

WORDS = """abstract arguments await break case catch class const continue debugger default delete do
else enum eval export extends false finally for function if implements import in instanceof
interface let new null package private protected public return static super switch this throw true
try typeof undefined var void while with yield Math NaN Infinity np py Object""".split()
FUNCTION_NAMES = {name: f"Math.{name}" for name in MATH} | {"fabs": "Math.abs", "abs": "np.abs"}
FUNCTION_NAMES |= {name: f"py.{name}" for name in ("len", "max", "min", "next", "round", "sum")}
FUNCTION_NAMES |= {"int": "Math.trunc", "float": "Number", "str": "String"}
CONSTANTS = {"nan": "NaN", "inf": "Infinity", True: "true", False: "false", None: "null"}
ARRAYS = """abs arange array array_split ceil diff divide floor isfinite log10 maximum minimum ptp
sign sqrt subtract take where""".split()
# What arrays, dicts and strings are asked for.
METHOD_NAMES = ("get", "index", "items", "join", "max", "min", "pop", "startswith", "values")
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
    texts, queue = {}, list(names)
    while queue:
        name = queue.pop()
        if name not in texts:
            texts[name] = _Function(functions[name], {*functions}).text
            callees = (x.func for x in ast.walk(functions[name]) if isinstance(x, ast.Call))
            queue += [x.id for x in callees if getattr(x, "id", "") in functions]
    return "\n".join(texts.values())


def of_function(function: Callable, name: str) -> str:
    """A Python function in JavaScript under this name, with all that it uses of its module."""
    keywords = {}
    if isinstance(function, partial):  # its keywords are the last arguments
        function, keywords = function.func, function.keywords
    own, rest = _name(function), [json.dumps(x) for x in keywords.values()]
    own = f"(...x) => {own}({', '.join(['...x', *rest])})" if rest else own
    return "\n".join([*_with_dependencies(function, {}).values(), f"const {name} = {own};"])


def _with_dependencies(function: Callable, texts: dict[str, str]) -> dict[str, str]:
    """Add the texts of a function, and of the functions and tables that it uses, to ``texts``."""
    tree = _tree(function)
    names = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)}
    own = {k: x for k, x in function.__globals__.items() if k in names and not inspect.ismodule(x)}
    texts[function.__name__] = _Function(tree, {*own}).text
    for name, x in own.items():
        if name not in texts and inspect.isfunction(x):
            _with_dependencies(x, texts)
        elif name not in texts:
            texts[name] = f"const {_identifier(name)} = {json.dumps(x)};"
    return texts


def _tree(function: Callable) -> ast.FunctionDef:
    """The syntax tree of a function without annotations.

    A lambda must be the only one in its line, which may be an entry of a dict.
    """
    source = textwrap.dedent(inspect.getsource(function)).strip()
    if function.__name__ != "<lambda>":
        tree = ast.parse(source).body[0]
        tree.returns = None
        for x in (*tree.args.args, *tree.args.kwonlyargs):
            x.annotation = None
        return tree
    nodes = ast.walk(ast.parse(f"{{{source}}}"))
    (function_node,) = (x for x in nodes if isinstance(x, ast.Lambda))
    body = [ast.Return(function_node.body)]
    return ast.FunctionDef(name=_name(function), args=function_node.args, body=body)


def _name(function: Callable) -> str:
    return "lambda$" if function.__name__ == "<lambda>" else _identifier(function.__name__)


def _identifier(name: str) -> str:
    return f"{name}$" if name in WORDS else name


class _Function:
    """The ``text`` of one function in JavaScript.

    functions : the names of other functions that it may call
    """

    def __init__(self, tree: ast.FunctionDef, functions: Container[str]) -> None:
        self.functions, arguments = (
            functions,
            [x.arg for x in (*tree.args.args, *tree.args.kwonlyargs)],
        )
        lines = [line for x in tree.body for line in self._line(x)]
        nodes = [*ast.walk(tree)]
        stored = dict.fromkeys(x.id for x in nodes if isinstance(x, ast.Name) and _is_stored(x))
        inner = {x.id for y in nodes if isinstance(y, ast.comprehension)
                 for x in ast.walk(y.target) if isinstance(x, ast.Name)}  # fmt: skip
        names = {_identifier(x): None for x in stored if x not in {*arguments, *inner}}
        names |= {"$": None} if any(line.startswith("$ = ") for line in lines) else {}
        head = ", ".join(self._arguments(tree.args))
        body = [f"let {', '.join(names)};"] * bool(names) + lines
        self.text = "\n".join([f"function {_identifier(tree.name)}({head}) {{", *body, "}"])

    def _arguments(self, args: ast.arguments) -> list[str]:
        names, values = [_identifier(x.arg) for x in args.args], list(map(self.put, args.defaults))
        values = [None] * (len(names) - len(values)) + values
        return [x if y is None else f"{x} = {y}" for x, y in zip(names, values, strict=True)]

    # ---- statements

    def _line(self, x: ast.stmt) -> list[str]:
        kind = type(x).__name__
        if not hasattr(self, f"_on_{kind}"):
            raise ValueError(f"{kind} is not translated to JavaScript: {ast.unparse(x)}")
        return getattr(self, f"_on_{kind}")(x)

    def _block(self, head: str, lines: Iterable[ast.stmt]) -> list[str]:
        return [f"{head} {{", *(line for x in lines for line in self._line(x)), "}"]

    def _on_Assign(self, x: Any) -> list[str]:
        *also, target = x.targets
        if also:
            return [f"{' = '.join(map(self.put, x.targets))} = {self.put(x.value)};"]
        if isinstance(target, ast.Tuple):  # one by one, which is faster than all at once
            value = self.put(x.value)
            parts = enumerate(map(self.put, target.elts))
            return [f"$ = {value};", *(f"{name} = $[{k}];" for k, name in parts if name != "_")]
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            return [f"{self.put(target.value)}.splice(0, Infinity, ...{self.put(x.value)});"]
        return [f"{self.put(target)} = {self.put(x.value)};"]

    def _on_AugAssign(self, x: Any) -> list[str]:
        if isinstance(x.value, ast.Tuple):  # a list is extended
            return [f"{self.put(x.target)}.push({', '.join(map(self.put, x.value.elts))});"]
        return [f"{self.put(x.target)} {BINARY[type(x.op)][0]}= {self.put(x.value)};"]

    def _on_For(self, x: Any) -> list[str]:
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

    def _on_While(self, x: Any) -> list[str]:
        return self._block(f"while ({self.put(x.test)})", x.body)

    def _on_If(self, x: Any) -> list[str]:
        other = self._block("else", x.orelse) if x.orelse else []
        return [*self._block(f"if ({self.put(x.test)})", x.body), *other]

    def _on_Break(self, x: Any) -> list[str]:
        return ["break;"]

    def _on_Continue(self, x: Any) -> list[str]:
        return ["continue;"]

    def _on_Return(self, x: Any) -> list[str]:
        return [f"return {self.put(x.value)};"]

    def _on_Expr(self, x: Any) -> list[str]:
        return []  # docstrings

    # ---- expressions

    def put(self, x: ast.expr, least: int = CHOICE) -> str:
        """The text of an expression, in parentheses if it binds less tightly than ``least``."""
        kind = type(x).__name__
        if not hasattr(self, f"_put_{kind}"):
            raise ValueError(f"{kind} is not translated to JavaScript: {ast.unparse(x)}")
        text, binds = getattr(self, f"_put_{kind}")(x)
        return f"({text})" if binds < least else text

    def _all(self, nodes: Iterable[ast.expr]) -> str:
        return ", ".join(map(self.put, nodes))

    def _put_Constant(self, x: Any) -> tuple[str, int]:
        if isinstance(x.value, (bool, type(None))):
            return CONSTANTS[x.value], ATOM
        return json.dumps(x.value), ATOM

    def _put_Name(self, x: Any) -> tuple[str, int]:
        return CONSTANTS.get(x.id) or _identifier(x.id), ATOM

    def _put_Tuple(self, x: Any) -> tuple[str, int]:
        return f"[{self._all(x.elts)}]", ATOM

    _put_List = _put_Tuple

    def _put_BinOp(self, x: Any) -> tuple[str, int]:
        if isinstance(x.op, ast.FloorDiv):
            return f"Math.floor({self.put(x.left, PRODUCT)}/{self.put(x.right, UNARY)})", ATOM
        if isinstance(x.op, ast.Pow):
            return f"Math.pow({self._all([x.left, x.right])})", ATOM
        if type(x.op) not in BINARY:
            raise ValueError(f"this operator is not translated to JavaScript: {ast.unparse(x)}")
        sign, binds = BINARY[type(x.op)]
        sign = sign if binds == PRODUCT else f" {sign} "  # a - -b needs its spaces
        return f"{self.put(x.left, binds)}{sign}{self.put(x.right, binds + 1)}", binds

    def _put_UnaryOp(self, x: Any) -> tuple[str, int]:
        sign = "!" if isinstance(x.op, (ast.Not, ast.Invert)) else "-"
        return f"{sign}{self.put(x.operand, ATOM)}", UNARY

    def _put_BoolOp(self, x: Any) -> tuple[str, int]:
        sign, binds = ("&&", AND) if isinstance(x.op, ast.And) else ("||", OR)
        return f" {sign} ".join(self.put(y, binds + 1) for y in x.values), binds

    def _put_Compare(self, x: Any) -> tuple[str, int]:
        sides, comparisons = [x.left, *x.comparators], []
        for a, sign, b in zip(sides, x.ops, x.comparators, strict=False):
            sign = COMPARE[type(sign)]
            comparisons.append(f"{self.put(a, COMPARED + 1)} {sign} {self.put(b, COMPARED + 1)}")
        return " && ".join(comparisons), COMPARED if len(comparisons) == 1 else AND

    def _put_IfExp(self, x: Any) -> tuple[str, int]:
        parts = [self.put(y, OR) for y in (x.test, x.body)]
        return f"{parts[0]} ? {parts[1]} : {self.put(x.orelse)}", CHOICE

    def _put_Call(self, x: Any) -> tuple[str, int]:
        args = [self.put(y) for y in x.args]
        if x.keywords:
            args.append(f"{{{', '.join(f'{k.arg}: {self.put(k.value)}' for k in x.keywords)}}}")
        if isinstance(x.func, ast.Attribute) and x.func.attr in METHOD_NAMES:
            return f"py.{x.func.attr}({', '.join([self.put(x.func.value), *args])})", ATOM
        return f"{self._function_name(x.func)}({', '.join(args)})", ATOM

    def _function_name(self, f: ast.expr) -> str:
        text = ast.unparse(f)
        if isinstance(f, ast.Attribute) and (not text.startswith("np.") or f.attr in ARRAYS):
            return self.put(f)
        if text in self.functions:
            return _identifier(text)
        if text in FUNCTION_NAMES:
            return FUNCTION_NAMES[text]
        raise ValueError(
            f"the function {text} is unknown in JavaScript; known are {[*FUNCTION_NAMES]}"
        )

    def _put_Attribute(self, x: Any) -> tuple[str, int]:
        whole = "np" if ast.unparse(x.value) == "np" else self.put(x.value, ATOM)
        return f"{whole}.{x.attr}", ATOM

    def _put_Subscript(self, x: Any) -> tuple[str, int]:
        whole, at = self.put(x.value, ATOM), x.slice
        if isinstance(at, ast.Slice):
            ends = [self.put(y) if y else z for y, z in ((at.lower, "0"), (at.upper, "Infinity"))]
            return f"{whole}.slice({', '.join(ends)})", ATOM
        if isinstance(at, ast.UnaryOp):
            return f"{whole}.at({self.put(at)})", ATOM
        return f"{whole}[{self.put(at)}]", ATOM

    def _put_JoinedStr(self, x: Any) -> tuple[str, int]:
        return " + ".join(['""', *(self.put(y, PRODUCT) for y in x.values)]), SUM

    def _put_FormattedValue(self, x: Any) -> tuple[str, int]:
        spec = ast.literal_eval(x.format_spec.values[0]) if x.format_spec else ""
        return f"py.format({self.put(x.value)}, {json.dumps(spec)})", ATOM

    def _put_GeneratorExp(self, x: Any) -> tuple[str, int]:
        return self._over(x, self.put(x.elt)), ATOM

    _put_ListComp = _put_GeneratorExp

    def _put_Dict(self, x: Any) -> tuple[str, int]:
        if None in x.keys:
            raise ValueError(f"this dict is not translated to JavaScript: {ast.unparse(x)}")
        pairs = zip(x.keys, x.values, strict=True)
        return f"({{{', '.join(f'[{self.put(k)}]: {self.put(y)}' for k, y in pairs)}}})", ATOM

    def _put_DictComp(self, x: Any) -> tuple[str, int]:
        pair = f"[{self.put(x.key)}, {self.put(x.value)}]"
        return f"Object.fromEntries({self._over(x, pair)})", ATOM

    def _over(self, x: Any, value: str) -> str:
        (one,) = x.generators
        head, whole = f"({self.put(one.target)}) =>", self._turns(one.iter)
        for test in one.ifs:
            whole += f".filter({head} {self.put(test)})"
        return f"{whole}.map({head} {value})"

    def _turns(self, x: ast.expr) -> str:
        """The array that a comprehension goes over; range(n) becomes one."""
        if isinstance(x, ast.Call) and ast.unparse(x.func) == "range":
            (count,) = x.args
            return f"Array.from({{length: {self.put(count)}}}, (_, k) => k)"
        return self.put(x, ATOM)


def _is_stored(x: ast.Name) -> bool:
    return isinstance(x.ctx, ast.Store)
