"""The generated step in C, for controllers and other programs.

``translated`` goes over Python's own ``ast`` of a generated text: assignments, arithmetic, loops,
breaks and calls.  All numbers are doubles; a function that returns several values writes them to
``out``.  Every operation is put into parentheses, so that rounding is that of the Python text.
"""

from __future__ import annotations

import ast

WORDS = """auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while NAN INFINITY out main step_of state args""".split()
CONSTANTS = {"nan": "NAN", "inf": "INFINITY", True: "1", False: "0"}
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&&",
          ast.BitOr: "||"}  # fmt: skip
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
OWN = ("where", "all_")  # written as operators


def translated(text: str, name: str) -> str:
    """One function of a generated text in C, behind those that it calls."""
    functions = {x.name: x for x in ast.parse(text).body if isinstance(x, ast.FunctionDef)}
    order: list[str] = []

    def visit(own: str) -> None:
        callees = (x.func for x in ast.walk(functions[own]) if isinstance(x, ast.Call))
        for other in dict.fromkeys(getattr(x, "id", "") for x in callees):
            if other in functions and other not in OWN and other not in order:
                visit(other)
        order.append(own)

    visit(name)
    return "\n\n".join(Function(functions[x]).text for x in order)


def identifier(name: str) -> str:
    """A name that is none of C's own."""
    return f"{name}_" if name in WORDS else name


class Function:
    """One function: ``text`` is its C."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        arguments = [x.arg for x in tree.args.args]
        returned = next(x.value for x in ast.walk(tree) if isinstance(x, ast.Return))
        self.several, self.buffers = isinstance(returned, ast.Tuple), 0
        lines = [line for x in tree.body for line in self.line(x)]
        stored = {x.id: None for x in ast.walk(tree) if _is_stored(x)}
        local = [identifier(x) for x in stored if x not in (*arguments, "_")]
        head = [f"double {identifier(x)}" for x in arguments] + ["double *out"] * self.several
        kind = "void" if self.several else "double"
        declared = [f"double {', '.join(f'{x} = 0.0' for x in local)};"] if local else []
        body = "\n".join(f"    {x}" for x in (*declared, *lines))
        self.text = f"static {kind} {identifier(tree.name)}({', '.join(head)})\n{{\n{body}\n}}"

    # ---- statements

    def line(self, x: ast.stmt) -> list[str]:
        """The lines of one statement."""
        if isinstance(x, ast.Assign):
            return self._assign(x)
        if isinstance(x, ast.For):
            return self._for(x)
        if isinstance(x, ast.If):
            other = self._block("else", x.orelse) if x.orelse else []
            return [*self._block(f"if ({self.put(x.test)})", x.body), *other]
        if isinstance(x, ast.Break):
            return ["break;"]
        if isinstance(x, ast.Return) and self.several:
            values = enumerate(map(self.put, x.value.elts))
            return [*(f"out[{k}] = {y};" for k, y in values), "return;"]
        if isinstance(x, ast.Return):
            return [f"return {self.put(x.value)};"]
        raise ValueError(f"{type(x).__name__} is not translated to C: {ast.unparse(x)}")

    def _block(self, head: str, lines: list[ast.stmt]) -> list[str]:
        return [f"{head} {{", *(f"    {line}" for x in lines for line in self.line(x)), "}"]

    def _assign(self, x: ast.Assign) -> list[str]:
        target = x.targets[-1]
        if not isinstance(target, ast.Tuple):
            targets = " = ".join(identifier(y.id) for y in x.targets)
            return [f"{targets} = {self.put(x.value)};"]
        names = [y.id for y in target.elts]
        self.buffers += 1
        new = f"new{self.buffers}_of"
        if isinstance(x.value, ast.Tuple):
            values = [f"{new}[{k}] = {self.put(y)};" for k, y in enumerate(x.value.elts)]
        else:
            arguments = ", ".join(map(self.put, x.value.args))
            values = [f"{identifier(x.value.func.id)}({arguments}, {new});"]
        stored = (f"{identifier(y)} = {new}[{k}];" for k, y in enumerate(names) if y != "_")
        lines = [f"double {new}[{len(names)}];", *values, *stored]
        return ["{", *(f"    {line}" for line in lines), "}"]

    def _for(self, x: ast.For) -> list[str]:
        name, turns = identifier(x.target.id), x.iter
        if isinstance(turns, ast.Tuple):
            self.buffers += 1
            values, at = f"values{self.buffers}_of", f"at{self.buffers}_of"
            listed = ", ".join(map(self.put, turns.elts))
            head = f"for (int {at} = 0; {at} < {len(turns.elts)}; {at}++)"
            body = self._block(head, x.body)
            body.insert(1, f"    {name} = {values}[{at}];")
            lines = [f"static const double {values}[] = {{{listed}}};", *body]
            return ["{", *(f"    {line}" for line in lines), "}"]
        first, end = ["0", *map(self.put, turns.args)][-2:]
        return self._block(f"for ({name} = {first}; {name} < {end}; {name} += 1)", x.body)

    # ---- expressions

    def put(self, x: ast.expr) -> str:
        """The text of an expression."""
        if isinstance(x, ast.Constant):
            return CONSTANTS[x.value] if isinstance(x.value, bool) else f"{float(x.value)!r}"
        if isinstance(x, ast.Name):
            return CONSTANTS.get(x.id) or identifier(x.id)
        if isinstance(x, ast.BinOp) and type(x.op) in BINARY:
            return f"({self.put(x.left)} {BINARY[type(x.op)]} {self.put(x.right)})"
        if isinstance(x, ast.UnaryOp):
            return f"({'!' if isinstance(x.op, ast.Not) else '-'}{self.put(x.operand)})"
        if isinstance(x, ast.BoolOp):
            sign = " && " if isinstance(x.op, ast.And) else " || "
            return f"({sign.join(map(self.put, x.values))})"
        if isinstance(x, ast.Compare):
            sides = [x.left, *x.comparators]
            pairs = zip(sides, x.ops, x.comparators, strict=False)
            each = (f"{self.put(a)} {COMPARE[type(s)]} {self.put(b)}" for a, s, b in pairs)
            return f"({' && '.join(each)})"
        if isinstance(x, ast.IfExp):
            return f"({self.put(x.test)} ? {self.put(x.body)} : {self.put(x.orelse)})"
        if isinstance(x, ast.Call):
            return self._call(x)
        raise ValueError(f"{type(x).__name__} is not translated to C: {ast.unparse(x)}")

    def _call(self, x: ast.Call) -> str:
        name, values = ast.unparse(x.func), [self.put(y) for y in x.args]
        if name == "where":
            return "({} ? {} : {})".format(*values)
        return values[0] if name == "all_" else f"{identifier(name)}({', '.join(values)})"


def _is_stored(x: ast.AST) -> bool:
    return isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
