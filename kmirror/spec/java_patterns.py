"""Translation of Java's regular expressions (`java.util.regex.Pattern`) to Python, or rejection.

The two agree in most cases, and differ without an error in the rest: in Java `\\d`, `\\w` and `\\s` are ASCII only, a
dot matches no line terminator, `\\v` is a class, and `[` in brackets begins a class. Constructs that are not translated
here are rejected by name: a filter that matches something else would copy nothing, or too much. `\\b` is rejected as
well, as it differs between releases of Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

Ranges = Sequence[tuple[int, int]]

_LAST = 0x10FFFF
_LINE_ENDS = r"\n\r\x85\u2028\u2029"
_BEFORE_LAST_LINE_END = rf"(?=(?:\r\n|[{_LINE_ENDS}])?\Z)"
_HORIZONTAL: Ranges = (
    (0x09, 0x09), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x180E, 0x180E), (0x2000, 0x200A), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
_VERTICAL: Ranges = ((0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
_DIGIT, _UPPER, _LOWER = (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)
_PUNCT: Ranges = ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E))
POSIX: dict[str, Ranges] = {
    "Lower": (_LOWER,),
    "Upper": (_UPPER,),
    "ASCII": ((0, 0x7F),),
    "Alpha": (_UPPER, _LOWER),
    "Digit": (_DIGIT,),
    "Alnum": (_DIGIT, _UPPER, _LOWER),
    "Punct": _PUNCT,
    "Graph": ((0x21, 0x7E),),
    "Print": ((0x20, 0x7E),),
    "Blank": ((0x09, 0x09), (0x20, 0x20)),
    "Cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "XDigit": (_DIGIT, (0x41, 0x46), (0x61, 0x66)),
    "Space": ((0x09, 0x0D), (0x20, 0x20)),
}
"""The classes of `\\p{...}` that are translated: those of POSIX, which are ASCII only."""
_SETS: dict[str, Ranges] = {
    "h": _HORIZONTAL,
    "v": _VERTICAL,
    "d": (_DIGIT,),
    "w": (_DIGIT, _UPPER, (0x5F, 0x5F), _LOWER),
    "s": POSIX["Space"],
}
"""Each has its complement as the capital letter."""
_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_ANCHORS = {"A": r"\A", "z": r"\Z", "Z": _BEFORE_LAST_LINE_END}
_GROUP = re.compile(r"\(\?(:|=|!|>|<=|<!|i:|<([a-zA-Z][a-zA-Z0-9]*)>)", re.ASCII)
_REPETITION = re.compile(r"\{[0-9]+(,[0-9]*)?\}")
_NAME = re.compile(r"k<([a-zA-Z][a-zA-Z0-9]*)>")
_CODES = (
    (re.compile(r"x([0-9a-fA-F]{2})"), 16),
    (re.compile(r"x\{([0-9a-fA-F]{1,6})\}"), 16),
    (re.compile(r"u([0-9a-fA-F]{4})"), 16),
    (re.compile(r"0([0-3][0-7]{2}|[0-7]{1,2})"), 8),
)
_TOKEN = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[0-9]+,[0-9]*\}|.", re.DOTALL)
"""The tokens that are not split when a list of patterns is split."""
_PROPERTY = re.compile(r"([pP])\{([^}]*)\}")


class PatternError(ValueError):
    """The text is not a regular expression of Java, or has a construct that is not translated; the message names it."""


@lru_cache(maxsize=1024)
def compile_java(text: str) -> re.Pattern[str]:
    """Return a pattern whose `fullmatch` matches the same texts as Java's `matches`; raises PatternError."""
    try:
        return re.compile(_Translation(text).run(), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"Not a regular expression: {error}") from None


def split_patterns(text: str) -> list[str]:
    """Return the patterns of a list; commas in brackets, parentheses, repetitions and quotations do not separate."""
    entries, depth, begin = [], 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] == "," and not depth:
            entries.append(text[begin : token.start()])
            begin = token.end()
        depth = max(0, depth + (token[0] == "(") - (token[0] == ")"))
    return [entry.strip() for entry in (*entries, text[begin:])] if text else []


class _Translation:
    def __init__(self, text: str) -> None:
        self._text = text
        self._index = 0

    def run(self) -> str:
        flags = "(?i)" if self._skip("(?i)") else ""
        return flags + "".join(self._pieces())

    def _pieces(self) -> Iterable[str]:
        while self._index < len(self._text):
            character = self._text[self._index]
            match character:
                case "\\":
                    yield self._escape()
                case "[":
                    yield self._class()
                case "(" if self._text.startswith("(?", self._index):
                    yield self._group()
                case "{":
                    yield self._consume(_REPETITION, "{ does not begin a repetition")[0]
                case ".":
                    self._index += 1
                    yield f"[^{_LINE_ENDS}]"
                case "$":
                    self._index += 1
                    yield _BEFORE_LAST_LINE_END
                case _:
                    self._index += 1
                    yield character if character in "()*+?|^" else re.escape(character)

    def _skip(self, text: str) -> bool:
        is_next = self._text.startswith(text, self._index)
        self._index += len(text) if is_next else 0
        return is_next

    def _consume(self, pattern: re.Pattern[str], problem: str) -> re.Match[str]:
        match = pattern.match(self._text, self._index)
        if match is None:
            raise self._error(problem)
        self._index = match.end()
        return match

    def _error(self, reason: str) -> PatternError:
        return PatternError(f"Not a regular expression that can be used here: {reason}, at index {self._index}")

    def _group(self) -> str:
        match = self._consume(_GROUP, "the supported groups with (? are (?: (?= (?! (?<= (?<! (?> (?<name> (?i:")
        return match[0] if match[2] is None else f"(?P<{match[2]}>"

    def _escape(self) -> str:
        """Translate an escape sequence outside of brackets."""
        if self._skip("\\Q"):
            end = self._text.find("\\E", self._index)
            quoted = self._text[self._index : len(self._text) if end < 0 else end]
            self._index += len(quoted) + (0 if end < 0 else 2)
            return re.escape(quoted)
        ranges = self._set()
        if ranges is not None:
            return f"[{_to_class(ranges)}]"
        next_chars = self._text[self._index + 1 : self._index + 3]
        if next_chars[:1] in _ANCHORS:
            self._index += 2
            return _ANCHORS[next_chars[0]]
        if next_chars[:1] in "123456789" and next_chars and not next_chars[1:].isdigit():
            self._index += 2
            return f"(?:\\{next_chars[0]})"
        match = _NAME.match(self._text, self._index + 1)
        if match is not None:
            self._index = match.end()
            return f"(?P={match[1]})"
        return re.escape(self._character())

    def _class(self) -> str:
        """Translate a class in brackets."""
        self._index += 1
        negation = "^" if self._skip("^") else ""
        items: list[str] = []
        while self._text[self._index : self._index + 1] != "]" or not items:
            if self._index >= len(self._text):
                raise self._error("[ is not closed")
            items.append(self._item())
        self._index += 1
        return f"[{negation}{''.join(items)}]"

    def _item(self) -> str:
        """Translate a set, a character or a range of characters inside of brackets."""
        if self._text[self._index] == "[" or self._text.startswith("&&", self._index):
            raise self._error("classes within classes ([a[b]], [a&&b]) are not translated; \\p{Alpha} is for letters")
        ranges = self._set() if self._text[self._index] == "\\" else None
        if ranges is not None:
            return _to_class(ranges)
        first = self._character()
        rest = self._text[self._index : self._index + 2]
        if len(rest) < 2 or rest[0] != "-" or rest[1] in "[]":
            return re.escape(first)
        self._index += 1
        if self._text[self._index] == "\\" and self._set() is not None:
            raise self._error("a range ends with a class")
        return f"{re.escape(first)}-{re.escape(self._character())}"

    def _set(self) -> Ranges | None:
        """Return the characters of the predefined class after a backslash; None if there is none."""
        letter = self._text[self._index + 1 : self._index + 2]
        if letter.lower() in _SETS and letter:
            self._index += 2
            ranges = _SETS[letter.lower()]
        elif letter in ("p", "P"):
            self._index += 1
            name = self._consume(_PROPERTY, "\\p is followed by a name in braces")[2]
            if name not in POSIX:
                raise self._error(f"unknown class \\p{{{name}}}; supported are {', '.join(POSIX)}")
            if name in ("Lower", "Upper") and "(?i" in self._text:
                raise self._error(f"\\p{{{name}}} has no meaning where case does not count")
            ranges = POSIX[name]
        else:
            return None
        return _complement(ranges) if letter.isupper() else ranges

    def _character(self) -> str:
        """Consume one character, which may be written with a backslash."""
        character = self._text[self._index]
        self._index += 1
        if character != "\\":
            return character
        for pattern, base in _CODES:
            match = pattern.match(self._text, self._index)
            if match is not None:
                self._index = match.end()
                code = int(match[1], base)
                if code > _LAST:
                    raise self._error("no such character")
                return chr(code)
        escaped = self._text[self._index : self._index + 1]
        if not escaped or (escaped.isascii() and escaped.isalnum() and escaped not in _CHARACTERS):
            raise self._error(f"\\{escaped} is not translated here" if escaped else "trailing backslash")
        self._index += 1
        return _CHARACTERS.get(escaped, escaped)


def _to_class(ranges: Ranges) -> str:
    """Return the text for some characters between brackets."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _complement(ranges: Ranges) -> Ranges:
    result, begin = [], 0
    for first, last in ranges:
        if first > begin:
            result.append((begin, first - 1))
        begin = last + 1
    return [*result, (begin, _LAST)]
