"""Parser of `sasl.jaas.config`: a login module, a control flag and options, tokenized like Kafka's JaasConfig.

    org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";

Words are letters, digits, `.`, `-`, `_`, `$` and everything beyond ASCII, and begin with no digit, dot or minus; all
other text goes between quotes, single or double, where a backslash escapes as in Java. `//`, `/* */` and a lone `/`
begin comments. No error shows the text, since it holds a password.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.errors import UsageError

FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_QUOTES = "\"'"
_NUMERIC = "0123456789.-"


@dataclass(frozen=True, slots=True)
class LoginModule:
    """The one entry of a client's JAAS config."""

    name: str
    """The class, with its package."""
    options: dict[str, str] = field(repr=False)


class _Token(NamedTuple):
    text: str | None
    """Set for a word or a quoted text; None for a number and for any other character."""
    mark: str = ""
    """That other character."""


def parse_jaas(config: str) -> LoginModule:
    """Return the entry of a client's JAAS config; raises UsageError, in Kafka's words, if there is not exactly one."""
    tokens = _tokens(config)
    modules = []
    for token in tokens:
        modules.append(_module(token, tokens))
    if not modules:
        raise UsageError("Login module not specified in JAAS config")
    if len(modules) > 1:
        raise UsageError(f"JAAS config property contains {len(modules)} login modules, should be 1 module")
    return modules[0]


def _module(first: _Token, tokens: Iterator[_Token]) -> LoginModule:
    flag = next(tokens, None)
    if flag is None:
        raise UsageError("Login module control flag not specified in JAAS config")
    if first.text is None:
        raise UsageError("Login module not specified in JAAS config")
    if flag.text is None or flag.text.upper() not in FLAGS:
        raise UsageError(f"Invalid login module control flag in JAAS config: it is one of {', '.join(FLAGS)}")
    options: dict[str, str] = {}
    for key in tokens:
        if key.mark == ";":
            return LoginModule(first.text, options)
        is_followed = (equals := next(tokens, None)) is not None and equals.mark == "="
        value = next(tokens, None) if is_followed else None
        if value is None or value.text is None:
            subject = "an option" if key.text is None or not is_followed else f"key '{key.text}'"
            raise UsageError(f"Value not specified for {subject} in JAAS config: quote values that are not plain words")
        if key.text is not None:  # Kafka accepts an option whose key is a number or a mark, and never uses it.
            options[key.text] = value.text
    raise UsageError("JAAS config entry not terminated by semi-colon")


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        if char <= " ":
            at += 1
        elif char == "/":
            at = _after_comment(text, at)
        elif char in _QUOTES:
            quoted, at = _quoted(text, at)
            yield _Token(quoted)
        elif char in _NUMERIC:
            at, mark = _after_number(text, at)
            yield _Token(None, mark)
        elif _is_word(char):
            begin = at
            while at < end and _is_word(text[at]):
                at += 1
            yield _Token(text[begin:at])
        else:
            at += 1
            yield _Token(None, char)


def _is_word(char: str) -> bool:
    """Return whether a character continues a word; one of `_NUMERIC` cannot begin it."""
    return (char.isascii() and char.isalnum()) or char in "-_$." or char >= "\xa0"


def _after_comment(text: str, at: int) -> int:
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    # As in Java's tokenizer, the character after a slash is skipped unseen, even the end of the line.
    ends = [chars for chars in (text.find(line_end, at + 2) for line_end in "\r\n") if chars >= 0]
    return min(ends, default=len(text))


def _after_number(text: str, at: int) -> tuple[int, str]:
    """Return where a number ends; a minus that no number follows is a character of its own."""
    begin = at
    if text[at] == "-":
        at += 1
        if text[at : at + 1] not in tuple("0123456789."):
            return at, "-"
    has_dot = False
    while at < len(text) and (text[at].isdigit() or (text[at] == "." and not has_dot)) and text[at].isascii():
        has_dot = has_dot or text[at] == "."
        at += 1
    assert at > begin, "a digit, a dot, or a minus before one"
    return at, ""


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return a quoted text and where it ends: at the quote, or, as in Java, at the end of the line."""
    quote, chars = text[at], []
    at += 1
    while at < len(text) and text[at] not in (quote, "\n", "\r"):
        char = text[at]
        at += 1
        if char == "\\" and at < len(text):
            char, at = _escaped(text, at)
        chars.append(char)
    return "".join(chars), at + (text[at : at + 1] == quote)


def _escaped(text: str, at: int) -> tuple[str, int]:
    """Return the escaped character, which may be up to three octal digits (at most 255)."""
    if text[at] not in "01234567":
        return _ESCAPES.get(text[at], text[at]), at + 1
    end = at + 1
    end_max = at + (3 if text[at] <= "3" else 2)
    while end < min(end_max, len(text)) and text[end] in "01234567":
        end += 1
    return chr(int(text[at:end], 8)), end
