"""Width of rich's output, and tables that fit the screen.

On a screen a table with too many columns is split into several, each with the columns that identify its rows; no number
is cut. Piped output is read by programs and editors, so it is never wrapped or split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.table import Table

UNBOUNDED = 100_000
"""Width of piped output. rich would use 80 columns and wrap sentences."""
GAP = 2


def make_console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the screen, or for a pipe wide enough that nothing is wrapped."""
    console = Console(stderr=stderr)
    if not console.is_terminal:
        console.width = UNBOUNDED
    return console


def plain_table(title: str | None = None, *, is_narrow: bool = False) -> Table:
    """Return a table without lines; numbers go into columns of `add_numbers`, which are never cut."""
    gap = 1 if is_narrow else GAP
    return Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, gap, 0, 0))


def add_names(table: Table, *names: str) -> None:
    """Add columns of text, which wraps if there is no room."""
    for name in names:
        table.add_column(name, overflow="fold")


def add_numbers(table: Table, *names: str, is_narrow: bool = False) -> None:
    """Add right-aligned columns of numbers that never wrap; narrow ones break their headings at a hyphen."""
    for name in ("-\n".join(name.rsplit("-", 1)) if is_narrow else name for name in names):
        table.add_column(name, justify="right", no_wrap=True, min_width=max(map(len, name.split("\n"))))


def fitting_table(make_table: Callable[[bool], Table], width: int) -> Table:
    """Return the table made by `make_table`, or its narrow form if it is wider than `width`."""
    table = make_table(False)
    needed_width = Console(width=UNBOUNDED).measure(table).maximum
    return table if needed_width <= width else make_table(True)


def fitting_tables(
    keys: Sequence[str], figures: Sequence[str], rows: Sequence[Sequence[str]], width: int, title: str
) -> Iterator[Table]:
    """Yield one table, or several that are each at most `width` columns wide.

    Each row has its keys first and then its figures; every table has all the keys.
    """
    widths = [max(map(len, column)) for column in zip((*keys, *figures), *rows, strict=True)]
    start = len(keys)
    key_width = sum(widths[:start]) + GAP * max(start - 1, 0)
    while start < len(widths):
        end, total = start, key_width
        while end < len(widths) and (end == start or total + GAP + widths[end] <= width):
            total += GAP + widths[end]
            end += 1
        table = plain_table(title)
        add_numbers(table, *keys, *figures[start - len(keys) : end - len(keys)])
        for row in rows:
            table.add_row(*row[: len(keys)], *row[start:end])
        yield table
        title, start = "", end
