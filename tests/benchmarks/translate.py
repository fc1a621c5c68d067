"""From generated Python text to C, statement by statement, so that gcc runs the same algorithm.

Understands what such texts contain: functions of numbers, assignments, arithmetic, comparisons,
calls, `for n in range(k)`, `while`, `if`, `break`, tuples as results, and arrays that are only
indexed. Whole numbers become `long`, all other numbers `double`.
"""

import ast

HEAD = """\
#include <math.h>
#define all_(condition) (condition)
#define where(condition, a, b) ((condition) ? (a) : (b))
static inline double sign(double x) { return (x > 0) - (x < 0); }
"""
IN_HEAD = {"all_", "where", "sign", "loop"}  # the last is for CPython alone
C_WORDS = set(
    "auto char const default double do enum extern float goto inline int long register restrict "
    "short signed sizeof static struct switch typedef union unsigned void volatile main".split()
)
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%"}
BINARY |= {ast.BitAnd: "&", ast.BitOr: "|"}
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Not: "!"}


def to_c(text, integers=("n", "stop", "every"), arrays=("state", "out")):
    """Return C for all functions of `text`; arguments are doubles unless named as something else.

    An array indexed with two numbers is stored by rows; the length of a row follows it as an
    argument of its own.
    """
    functions, parts = {}, [HEAD]
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name not in IN_HEAD:
            function = Function(node, functions, integers, arrays)
            functions[node.name] = function
            parts.append(function.text())
    return "\n".join(parts)


def name(identifier):
    return identifier + "_" if identifier in C_WORDS else identifier


class Function:
    """One function: the types of its variables, then its text."""

    def __init__(self, node, functions, integers, arrays):
        self.node, self.functions, self.columns = node, functions, {}
        self.arguments = [a.arg for a in node.args.args]
        self.types = {
            a: "double *" if a in arrays else "long" if a in integers else "double"
            for a in self.arguments
        }
        for subscript in ast.walk(node):
            if isinstance(subscript, ast.Subscript) and isinstance(subscript.slice, ast.Tuple):
                self.columns[subscript.value.id] = f"{subscript.value.id}_columns"
        self.result = []
        known = None
        while known != (known := dict(self.types)):  # until no assignment widens a type
            self.body = self.block(node.body, 1)

    def text(self):
        arguments = []
        for a in self.arguments:
            arguments.append(f"{self.types[a]} {name(a)}")
            if a in self.columns:
                arguments.append(f"long {self.columns[a]}")
        local = [f"    {t} {name(v)};" for v, t in self.types.items() if v not in self.arguments]
        lines, returns = [], self.result[0] if len(self.result) == 1 else f"{self.node.name}_result"
        if len(self.result) > 1:
            fields = " ".join(f"{t} f{k};" for k, t in enumerate(self.result))
            lines.append(f"typedef struct {{ {fields} }} {returns};")
        linkage = "static inline " if len(self.result) > 1 else ""
        lines.append(f"{linkage}{returns} {self.node.name}({', '.join(arguments)})\n{{")
        return "\n".join([*lines, *local, *self.body, "}\n"])

    def block(self, statements, depth):
        return ["    " * depth + line for s in statements for line in self.statement(s, depth)]

    def statement(self, s, depth):
        def inner(statements):
            return [line[4 * depth :] for line in self.block(statements, depth + 1)]

        match s:
            case ast.Assign(targets=[target]):
                return self.assign(target, s.value)
            case ast.AugAssign():
                return self.assign(s.target, ast.BinOp(s.target, s.op, s.value))
            case ast.For(target=ast.Name(k), iter=ast.Call(func=ast.Name("range"), args=[stop])):
                self.types.setdefault(k, "long")
                head = f"for ({name(k)} = 0; {name(k)} < {self.value(stop)[0]}; {name(k)}++) {{"
                return [head, *inner(s.body), "}"]
            case ast.While():
                return [f"while ({self.value(s.test)[0]}) {{", *inner(s.body), "}"]
            case ast.If():
                otherwise = ["} else {", *inner(s.orelse)] if s.orelse else []
                return [f"if ({self.value(s.test)[0]}) {{", *inner(s.body), *otherwise, "}"]
            case ast.Break():
                return ["break;"]
            case ast.Return(value=ast.Tuple(elts=values)):
                values = [self.value(v) for v in values]
                self.result = [t for _, t in values]
                fields = ", ".join(v for v, _ in values)
                return [f"return ({self.node.name}_result){{{fields}}};"]
            case ast.Return():
                value, kind = self.value(s.value)
                self.result = [kind]
                return [f"return {value};"]
            case ast.Expr(value=ast.Constant()):
                return []  # a docstring
        raise NotImplementedError(ast.unparse(s))

    def assign(self, target, value):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Name):
            kinds = self.functions[self.types[value.id].removesuffix("_result")].result
            targets = [(t.id, k) for k, t in enumerate(target.elts) if t.id != "_"]
            return [self.store(t, f"{name(value.id)}.f{k}", kinds[k]) for t, k in targets]
        text, kind = self.value(value)
        if isinstance(target, ast.Name):
            return [self.store(target.id, text, kind)]
        return [f"{self.value(target)[0]} = {text};"]

    def store(self, variable, text, kind):
        if self.types.get(variable) != "double":  # once double, always double
            self.types[variable] = kind
        return f"{name(variable)} = {text};"

    def value(self, e):
        """Return the text and the type of an expression."""
        match e:
            case ast.Constant(value=bool() | int()):
                return str(int(e.value)), "long"
            case ast.Constant(value=float()):
                return repr(e.value), "double"
            case ast.Name():
                return name(e.id), self.types.get(e.id, "double")
            case ast.UnaryOp():
                text, kind = self.value(e.operand)
                kind = "long" if isinstance(e.op, ast.Not) else kind
                return f"({UNARY[type(e.op)]}{text})", kind
            case ast.BinOp(op=ast.Pow()):
                return f"pow({self.value(e.left)[0]}, {self.value(e.right)[0]})", "double"
            case ast.BinOp():
                (a, kind_a), (b, kind_b) = self.value(e.left), self.value(e.right)
                kind = "double" if "double" in (kind_a, kind_b) else "long"
                if isinstance(e.op, ast.Div) and kind == "long":
                    a, kind = f"(double){a}", "double"
                return f"({a} {BINARY[type(e.op)]} {b})", kind
            case ast.Compare(ops=[op], comparators=[right]):
                return (
                    f"({self.value(e.left)[0]} {COMPARE[type(op)]} {self.value(right)[0]})",
                    "long",
                )
            case ast.BoolOp():
                sign = " && " if isinstance(e.op, ast.And) else " || "
                return f"({sign.join(self.value(v)[0] for v in e.values)})", "long"
            case ast.IfExp():
                (a, kind_a), (b, kind_b) = self.value(e.body), self.value(e.orelse)
                kind = "double" if "double" in (kind_a, kind_b) else "long"
                return f"({self.value(e.test)[0]} ? {a} : {b})", kind
            case ast.Call(func=ast.Name(function)):
                arguments = ", ".join(self.value(a)[0] for a in e.args)
                kind = f"{function}_result" if function in self.functions else "double"
                function = {"abs": "fabs"}.get(function, function)
                return f"{function}({arguments})", "long" if function == "all_" else kind
            case ast.Subscript(value=ast.Name(array), slice=ast.Tuple(elts=[row, column])):
                place = f"{self.value(row)[0]} * {self.columns[array]} + {self.value(column)[0]}"
                return f"{name(array)}[{place}]", "double"
            case ast.Subscript(value=ast.Name(variable)):
                kind, place = self.types[variable], self.value(e.slice)[0]
                if kind.endswith("_result"):
                    result = self.functions[kind.removesuffix("_result")].result
                    return f"{name(variable)}.f{place}", result[int(place)]
                return f"{name(variable)}[{place}]", "double"
        raise NotImplementedError(ast.unparse(e))
