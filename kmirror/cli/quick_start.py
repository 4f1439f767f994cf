"""Commands that start without click, because scripts call them once per folder.

Importing click takes as long as verifying a quarter of a gibibyte; rows T1 and T2 of `python -m benchmarks tools`
measure that. This module has all code for it, and sets the garbage collector for the other commands.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from pathlib import Path

QuickCommand = Callable[[Sequence[str]], int | None]
"""Takes the words after the command's name; returns the exit code, or None if click must parse the words."""


def verify(words: Sequence[str]) -> int | None:
    """Verify the folder in the words, if they are one folder and options in the form of the help."""
    gc.disable()  # Imported modules live until exit: the collector need not scan them.
    from kmirror.cli.verify_folder import OUTPUTS, verify_folder

    gc.freeze()
    gc.enable()
    directories: list[str] = []
    deep, output = False, OUTPUTS[0]
    remaining = iter(words)
    for word in remaining:
        if word == "--deep":
            deep = True
        elif word in ("-o", "--output"):
            output = next(remaining, "")
        elif word.startswith("-"):
            return None
        else:
            directories.append(word)
    if len(directories) != 1 or output not in OUTPUTS:
        return None
    return verify_folder(Path(directories[0]), deep=deep, output=output)


QUICK_COMMANDS: dict[str, QuickCommand] = {"verify": verify}


def run_without_click(words: Sequence[str]) -> int | None:
    """Return the exit code of a command that does not need click, else None."""
    command = QUICK_COMMANDS.get(words[0]) if words else None
    return None if command is None else command(words[1:])


def relax_gc() -> None:
    """Run the collection of cycles less often; by default it takes 9 % of a history's processor time."""
    gc.set_threshold(50_000, 20, 100)
