"""`kmirror replay FILE...`: check that the nodes of journals behave the same again.

Rule 1: stdout has one line for each journal, with its description and whether its replay was equal; if it was not, the
first differing call with both effects follows. With `-o json` each is one object per line.
Rule 2: the exit code is 0 if all are equal, 1 if one is not or has nothing to compare, 2 for a file that is no journal.
A torn end is reported, and is no difference.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from kmirror.assembly.journal.replay import Replay, replay
from kmirror.cli.commands import CONTEXT
from kmirror.cli.output import Output
from kmirror.cli.usage_errors import as_usage_error
from kmirror.errors import KmirrorError, UsageError
from kmirror.kernel.names import counted


@click.command("replay", context_settings=CONTEXT)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one object per line.")
def command(files: tuple[Path, ...], output: str) -> int:
    """Replay journals of nodes, written by `kmirror serve --journal DIR`, and compare the actions of the nodes.

    A node is created again from its journal and receives the same events at the same times. All its actions must be the
    same: requests, responses, timers, disk work. Otherwise the first call that differs is shown.

    The exit code is 0 if all are equal, 1 if one is not, 2 if a file is not a journal.
    """
    is_equal = True
    with as_usage_error(KmirrorError), Output() as out:
        for path in files:
            found = _replay(path)
            is_equal &= found.is_equal
            out.write(as_json(path, found) if output == "json" else as_text(path, found))
    return int(not is_equal)


def _replay(path: Path) -> Replay:
    try:
        return replay(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except KmirrorError as error:
        raise UsageError(f"{path}: {error}") from None


def as_text(path: Path, found: Replay) -> str:
    """Return the lines about one journal."""
    result = "equal" if found.is_equal else "not equal" if found.calls else "nothing to compare"
    text = f"{path}: {found.process or 'no node'}, {counted(found.calls, 'call')}, {result}\n"
    if found.torn is not None:
        text += f"  {found.torn}\n"
    return text if found.difference is None else f"{text}{found.difference}\n"


def as_json(path: Path, found: Replay) -> str:
    """Return the object of one journal, on a line."""
    return json.dumps({"path": str(path), "is_equal": found.is_equal, **asdict(found)}) + "\n"
