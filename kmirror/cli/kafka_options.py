"""Parsing of command lines as Kafka's tools do it, with joptsimple and without abbreviations.

Rule 1: one dash equals two, and `--name=value` equals `--name value`. The word after an option with a value is always
that value; an optional value does not begin with a dash.
Rule 2: words that belong to no option are ignored unless the command uses them, and so is a value for a flag. `--` ends
the options.
Rule 3: a value is checked when the command reads it: two values, or one that is not a number, are an error only then.
Rule 4: the exit code is 1 for a refused command line (2 for commands that use click), and for an empty one, which
prints the help on stderr. Requested help is printed on stdout with exit code 0, as in all kmirror commands; with
Kafka's tools that is an error, too.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import click

from kmirror.errors import UsageError

EXIT_NO_WORDS: Final = 1
_INT32: Final = re.compile(r"[+-]?[0-9]+")
_INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option: its names, with the one for look-ups first, and its line of the help."""

    names: tuple[str, ...]
    help: str
    metavar: str = ""  # Name of the option's value; a flag has none.
    is_optional: bool = False  # The value may be left out.

    def as_click(self) -> click.Option:
        """Return the option for click's help."""
        metavar = f"[{self.metavar}]" if self.is_optional else self.metavar
        flags = [f"{'-' if len(name) == 1 else '--'}{name}" for name in self.names]
        kind = click.Path() if self.metavar.startswith("FILE") else None  # Lets a shell complete the word.
        return click.Option(flags, type=kind, is_flag=not self.metavar, metavar=metavar or None, help=self.help)


HELP: Final = OptionRow(("help", "h"), "Show this message.")
VERSION: Final = OptionRow(("version",), "Print the version of Kafka that this command follows.")


class ParsedOptions:
    """Parsed options of a command line in order, each with its value, or None without one."""

    def __init__(self, parsed: Sequence[tuple[str, str | None]], words: Sequence[str] = ()) -> None:
        self._pairs = parsed
        self.words = words
        """Words that belong to no option."""

    def has(self, *names: str) -> bool:
        """Return whether any of the options is present, with or without a value."""
        return any(name in names for name, _ in self._pairs)

    def values(self, *names: str) -> list[str]:
        """Return the values of all these options in the order of the command line; "" for an option without one."""
        return [value or "" for name, value in self._pairs if name in names]

    def text(self, name: str, default: str) -> str:
        """Return the option's value; raise UsageError for more than one."""
        values = [value for option, value in self._pairs if option == name and value is not None]
        if len(values) > 1:
            raise UsageError(f"--{name} was given {len(values)} times, but takes one value")
        return values[0] if values else default

    def number(self, name: str, default: int) -> int:
        """Return the option's value; raise UsageError if it is not a Java int."""
        text = self.text(name, str(default))
        if not _INT32.fullmatch(text) or not -_INT32_MAX - 1 <= int(text) <= _INT32_MAX:
            raise UsageError(f"--{name} must be a 32-bit number, not {text!r}")
        return int(text)

    def one_of(self, name: str, *choices: str) -> str:
        """Return the option's value, by default the first choice; raise UsageError for another text."""
        text = self.text(name, choices[0])
        if text not in choices:
            raise UsageError(f"--{name} must be one of {', '.join(choices)}, not {text!r}")
        return text


def parse_options(line: Iterable[str], rows: Iterable[OptionRow]) -> ParsedOptions:
    """Return the parsed command line; raise UsageError for an option that is not in `rows` or lacks its value."""
    table = {name: row for row in rows for name in row.names}
    remaining = deque(line)
    pairs: list[tuple[str, str | None]] = []
    words: list[str] = []
    while remaining:
        word = remaining.popleft()
        if word == "--":
            break
        if not _is_option(word):
            words.append(word)
            continue
        name, value = _name_and_value(word, table)
        row = table.get(name)
        if row is None:
            similar = [known for known in table if known.startswith(name)] or get_close_matches(name, table, 1)
            hint = f"did you mean --{' or --'.join(similar)}?" if similar else "--help shows all"
            raise UsageError(f"there is no option {word.partition('=')[0]}; {hint}")
        if not row.metavar or (value is None and row.is_optional and (not remaining or _is_option(remaining[0]))):
            pairs.append((row.names[0], None))
            continue
        if value is None and not remaining:
            raise UsageError(f"--{row.names[0]} needs a value, {row.metavar}")
        pairs.append((row.names[0], remaining.popleft() if value is None else value))
    return ParsedOptions(pairs, (*words, *remaining))


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _name_and_value(word: str, table: Mapping[str, OptionRow]) -> tuple[str, str | None]:
    """Return name and value of a word such as --name, -name=value, or -nvalue if n alone is a name."""
    text = word[2:] if word.startswith("--") else word[1:]
    name, equals, value = text.partition("=")
    if name not in table and not word.startswith("--") and text[0] in table:
        return text[0], text[1:]
    return name, value if equals else None


class KafkaCommand(click.Command):
    """A command that parses its words like Kafka's tools, and gets them as `parsed`."""

    def __init__(self, *, rows: Sequence[OptionRow], required: str = "", version: str, **settings: Any) -> None:
        self.rows = (*rows, HELP, VERSION)
        self._required = required
        self._version = version
        options = [row.as_click() for row in self.rows]
        super().__init__(**{**settings, "params": options, "add_help_option": False})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)  # A shell requests completions.
        parsed = parse_options(args, self.rows)
        if not args or parsed.has("help"):
            click.echo(ctx.get_help(), err=not args)
            ctx.exit(EXIT_NO_WORDS if not args else 0)
        if parsed.has("version"):
            click.echo(self._version)
            ctx.exit()
        if self._required and not parsed.has(self._required):
            raise UsageError(f"--{self._required} is missing; --help shows all options")
        ctx.params["parsed"] = parsed
        return []
