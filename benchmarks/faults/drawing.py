"""Faults drawn by the mutation tool cosmic-ray from a seed: one operator at one place of one file."""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Iterable, Sequence

from benchmarks.faults.rows import ROOT, Fault

PACKAGES = ("mirror", "log", "cluster", "client")

# The other operators of cosmic-ray make code that type checkers refuse (`<` to `is`), or that fails at import.
OPERATORS = (
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")
    ),
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceUnaryOperator_Delete_Not",
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "NumberReplacer",
    "ZeroIterationForLoop",
)
TRIES_MAX = 10_000


def draw_faults(count: int, seed: int, packages: Sequence[str] = PACKAGES) -> list[Fault]:
    """Return faults in distinct files, spread evenly over the packages; the same seed draws the same faults."""
    rng = random.Random(seed)
    found: list[Fault] = []
    used_files: set[str] = set()
    for _ in range(TRIES_MAX):
        if len(found) == count:
            return found
        package = packages[len(found) % len(packages)]
        files = [path for path in _files(package) if path not in used_files]
        operator = rng.choice(OPERATORS)
        path = rng.choice(files)
        fault = _draw_fault(path, operator, rng, f"drawn-{seed}-{len(found) + 1:02}")
        if fault is not None:
            used_files.add(path)
            found.append(fault)
    raise ValueError(f"only {len(found)} of {count} faults were found in {TRIES_MAX} tries")


def _files(package: str) -> list[str]:
    paths = sorted((ROOT / "kmirror" / package).rglob("*.py"))
    return [str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py"]


def _draw_fault(file: str, operator_name: str, rng: random.Random, name: str) -> Fault | None:
    """Return a fault by this operator at a random place in the file; None if it has no effective place there."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source = (ROOT / file).read_text(encoding="utf-8")
    operator = get_operator(f"core/{operator_name}")()
    places = [place for node in ast_nodes(get_ast(source)) for place in operator.mutation_positions(node)]
    function_lines = _lines_of_functions(source)
    usable_places = [number for number, (start, _) in enumerate(places) if start[0] in function_lines]
    if not usable_places:
        return None
    mutated = mutate_code(source, operator, rng.choice(usable_places))
    if mutated is None or ast.dump(ast.parse(mutated)) == ast.dump(ast.parse(source)):
        return None
    before, after = smallest_unique(source, mutated)
    return Fault(name, file, f"cosmic-ray {operator_name}", before, after)


def _lines_of_functions(source: str) -> set[int]:
    """Return the line numbers within bodies of functions: constants and signatures are not changed."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            body: Iterable[ast.stmt] = node.body[1:] if ast.get_docstring(node) else node.body
            for statement in body:
                found.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return found


def smallest_unique(source: str, mutated: str) -> tuple[str, str]:
    """Return the changed lines of two texts, with enough lines around them to be unique in the first."""
    one, other = source.splitlines(keepends=True), mutated.splitlines(keepends=True)
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    head = blocks[0].size if blocks[0].a == blocks[0].b == 0 else 0
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    first, last = head, len(one) - tail
    while source.count("".join(one[first:last])) != 1:
        first, last = max(0, first - 1), min(len(one), last + 1)
    end = len(other) - (len(one) - last)
    return "".join(one[first:last]), "".join(other[first:end])
