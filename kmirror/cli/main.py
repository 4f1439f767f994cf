"""Entry point of the command line, and exit codes.

Rule 1: `COMMANDS` is the whole list; the module of a command is imported when the command is called, so that `--help`
stays fast.
Rule 2: the exit code is 0, or the one that the command returns; 1 for an error that kmirror raises on purpose, with its
text on stderr and no traceback; 2 for a command line that cannot be parsed (1 for dump-log, as in Kafka's tool); 130
after Ctrl-C, with a line that says so, and the location of kept results if there are any.
Rule 3: a traceback means a bug in kmirror.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from kmirror.cli.commands import COMMANDS, CommandRow
from kmirror.cli.output import write_stderr
from kmirror.cli.quick_start import relax_gc, run_without_click
from kmirror.errors import KmirrorError

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it.


def run(arguments: Sequence[str] | None = None, *, rows: Sequence[CommandRow] = COMMANDS) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    if not __debug__:
        _fail("kmirror needs assertions: run it without -O and without PYTHONOPTIMIZE")
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        outcome = run_without_click(words)
        if outcome is None:
            from kmirror.cli.group import run_with_click  # Importing click takes longer than some commands.

            relax_gc()
            outcome = run_with_click(words, rows)
    except KeyboardInterrupt as interrupt:
        _report_interrupt(str(interrupt))
        outcome = EXIT_INTERRUPTED
    except BrokenPipeError:
        outcome = EXIT_FAILED  # The reader closed the pipe, as `head` does: end quietly.
    except KmirrorError as error:
        _fail(str(error))
    sys.exit(outcome)


def _report_interrupt(location: str) -> None:
    # A terminal echoes ^C without ending the line.
    line_break = "\n" if sys.stderr is not None and sys.stderr.isatty() else ""
    write_stderr(f"{line_break}kmirror: interrupted{f'; {location}' if location else ''}\n")


def _fail(message: str) -> NoReturn:
    write_stderr(f"kmirror: {message}\n")
    sys.exit(EXIT_FAILED)
