"""Iteration over sets in the core.

The order of a set of strings, bytes or enum members changes with PYTHONHASHSEED, and with it the run of a seed.
Detected are set displays, comprehensions and calls, operators between them, and names, attributes and arguments that
are assigned or annotated as sets in the same file. Allowed are uses that do not depend on the order: membership, `len`,
`sorted`, `min`, `max`, `sum`, `any`, `all`, and building another set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.repo.layers import CORE
from tests.repo.sources import Source

SET_CALLS = frozenset({"set", "frozenset"})
SET_TYPES = frozenset({"set", "frozenset", "Set", "AbstractSet", "MutableSet"})
SET_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference"})
# The result of these depends on the order of their argument.
ORDERED = frozenset({"list", "tuple", "enumerate", "iter", "next", "zip", "map", "filter", "reversed", "dict"})
ORDERED_METHODS = frozenset({"join", "fromkeys", "extend", "writelines"})
UNORDERED = frozenset({"sorted", "min", "max", "sum", "any", "all", "len", "set", "frozenset"})
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def check_sets(source: Source) -> Iterator[str]:
    """Report each place of the core that depends on the order of a set."""
    if source.package not in CORE:
        return
    finder = _Finder()
    finder.visit(source.tree)
    for line, text in finder.found:
        yield f"{source.path}:{line}: iterates over the set {text}: sort it, or use a dict"


def _is_set_type(annotation: ast.expr | None) -> bool:
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.BinOp):  # set[str] | None
        return _is_set_type(annotation.left) or _is_set_type(annotation.right)
    if isinstance(annotation, ast.Attribute):
        return annotation.attr in SET_TYPES
    return isinstance(annotation, ast.Name) and annotation.id in SET_TYPES


class _Finder(ast.NodeVisitor):
    """Visits a file with the names of sets in each enclosing scope, and the attributes that hold sets."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.scopes: list[dict[str, bool]] = []
        self.attributes: set[str] = set()

    def visit_Module(self, node: ast.Module) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.AnnAssign) and _is_set_type(inner.annotation):
                if isinstance(inner.target, ast.Attribute):
                    self.attributes.add(inner.target.attr)
            elif isinstance(inner, ast.ClassDef):
                self.attributes.update(
                    item.target.id
                    for item in inner.body
                    if isinstance(item, ast.AnnAssign)
                    and isinstance(item.target, ast.Name)
                    and _is_set_type(item.annotation)
                )
        self._enter(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._enter(node)

    def _enter(self, node: Scope) -> None:
        names: dict[str, bool] = {}
        arguments = getattr(node, "args", None)
        if isinstance(arguments, ast.arguments):
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                names[argument.arg] = _is_set_type(argument.annotation)
        self.scopes.append(names)
        self._assignments(node, names)
        self.generic_visit(node)
        self.scopes.pop()

    def _assignments(self, scope: ast.AST, names: dict[str, bool]) -> None:
        """Record the names that this scope itself binds to sets; another binding clears a name."""
        for node in ast.iter_child_nodes(scope):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names[node.target.id] = _is_set_type(node.annotation)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        names[target.id] = names.get(target.id, True) and self.is_set(node.value)
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
                names[node.target.id] = False
            if not isinstance(node, Scope):
                self._assignments(node, names)

    def is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Set() | ast.SetComp():
                return True
            case ast.Name(id=name):
                known = next((scope[name] for scope in reversed(self.scopes) if name in scope), False)
                return known
            case ast.Attribute(attr=attribute):
                return attribute in self.attributes
            case ast.Call(func=ast.Name(id=name)):
                return name in SET_CALLS
            case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                return method in SET_METHODS or (method == "copy" and self.is_set(owner))
            case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.BitXor() | ast.Sub(), right=right):
                return self.is_set(left) or self.is_set(right)
            case ast.IfExp(body=body, orelse=other):
                return self.is_set(body) or self.is_set(other)
        return False

    def _complain(self, node: ast.expr) -> None:
        if self.is_set(node):
            self.found.append((node.lineno, ast.unparse(node)))

    def visit_For(self, node: ast.For) -> None:
        self._complain(node.iter)
        self.generic_visit(node)

    def visit_Starred(self, node: ast.Starred) -> None:
        self._complain(node.value)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.DictComp | ast.GeneratorExp) -> None:
        for part in node.generators:
            self._complain(part.iter)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in ORDERED or method in ORDERED_METHODS:
            for argument in node.args:
                self._complain(argument)
        if method == "pop" and not node.args and isinstance(node.func, ast.Attribute):
            self._complain(node.func.value)
        if name in UNORDERED and len(node.args) == 1:
            # A list that is only sorted or counted has no order to lose.
            argument = node.args[0]
            if isinstance(argument, ast.GeneratorExp | ast.ListComp):
                self.generic_visit(argument)
                return
        self.generic_visit(node)
