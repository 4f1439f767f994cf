"""Counts of unwanted forms in docstrings, comments, messages and manual pages: phrases that a reader has to decode.

CONTRIBUTING.md lists the forms. Text in backticks is not counted, since names follow the code.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.repo.sources import Source

FORMS = {
    "tell": r"\b(told|tells?|telling)\b",
    "whoever": r"\b(who|what|which)ever\b",
    "nobody": r"\b(no|some|every)body\b",
    "so many": r"\bso (many|much|long|often)\b",
    "anew": r"\banew\b",
    "of which": r"\bof (which|whom)\b",
    "as of": r"\bas of\b",
    "is to be": r"\b(is|are|was|were) to (be|have|get|go)\b",
    "all the same": r"\ball the same\b",
    "stands for": r"\bstands? (for|in|there|here|above|below|beside)\b",
    "what": r"\bwhat\b",
    "goes on": r"\b(goes|go|going|went) on\b",
    "comes of": r"\b(comes?|came) (of|to nothing)\b",
}
IDIOMS = (
    "[what to expect]",  # The text of a link.
    "What happened",  # The heading of the story of a history.
)
"""Phrases of messages and pages that are not counted."""
_FORMS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in FORMS.items()}
_COMMENT = re.compile(rf"#.*({'|'.join(FORMS.values())})", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")
_UNCOUNTED = re.compile(rf"{_CODE.pattern}|{'|'.join(map(re.escape, IDIOMS))}")


def prose(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of docstrings, of strings after fields, and of comments with a form, with their line numbers."""
    for node in source.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for number, line in enumerate(node.value.value.splitlines()):
                yield node.lineno + number, line
    if _COMMENT.search(source.text):  # Without a candidate there is no need to find the comments exactly.
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def unwanted_forms(source: Source) -> Iterator[str]:
    """Yield the place and the name of each unwanted form in docstrings and comments."""
    for number, line in prose(source):
        yield from _forms(f"{source.path}:{number}", _CODE.sub("", line))
    if (ast.get_docstring(source.tree) or "").partition("\n")[0].endswith("?"):
        yield f"{source.path}:1: a question as a heading"


def unwanted_forms_of_strings(source: Source) -> Iterator[str]:
    """Yield the place and the name of each unwanted form in messages and help: strings with a space, no docstrings."""
    docstrings = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value if " " in node.value.strip() else ""
            yield from _forms(f"{source.path}:{node.lineno}", _UNCOUNTED.sub("", text))


def unwanted_forms_of_page(path: str, markdown: str) -> Iterator[str]:
    """Yield the place and the name of each unwanted form in a page, outside of fenced blocks."""
    is_fenced = False
    for number, line in enumerate(markdown.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield from _forms(f"{path}:{number}", _UNCOUNTED.sub("", line))
            if line.startswith("#") and line.rstrip().endswith("?"):
                yield f"{path}:{number}: a question as a heading"


def _forms(place: str, text: str) -> Iterator[str]:
    return (f"{place}: {name}" for name, form in _FORMS.items() if form.search(text))
