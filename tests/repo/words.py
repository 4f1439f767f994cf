"""Counts of unwanted forms in docstrings and comments: phrases that a reader has to decode.

The forms are listed in CONTRIBUTING.md with better ones. Text in backticks is not counted, since names follow the code.
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
_FORMS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in FORMS.items()}
_COMMENT = re.compile(rf"#.*({'|'.join(FORMS.values())})", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")


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
    """Yield the place and the name of each unwanted form."""
    for number, line in prose(source):
        text = _CODE.sub("", line)
        yield from (f"{source.path}:{number}: {name}" for name, form in _FORMS.items() if form.search(text))
    if (ast.get_docstring(source.tree) or "").partition("\n")[0].endswith("?"):
        yield f"{source.path}:1: a question as a heading"
