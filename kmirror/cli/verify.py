"""`kmirror verify DIR`: check that a log folder, or a partition, is as a broker would have written it.

Rule 1: every fault is a line on stdout with file, position, offset and reason; the last line sums up the checked files.
Rule 2: the exit code is 1 if there was a fault.
"""

from __future__ import annotations

from pathlib import Path

import click

from kmirror.cli.commands import CONTEXT
from kmirror.cli.verify_folder import OUTPUTS, verify_folder


@click.command("verify", context_settings=CONTEXT)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, readable=False))
@click.option("--deep", is_flag=True, help="Inflate every batch and check the lengths of its records too.")
@click.option(
    "-o", "--output", type=click.Choice(OUTPUTS), default=OUTPUTS[0], help="json: a line a fault, a line a gap."
)
def command(directory: Path, deep: bool, output: str) -> int:
    """Check every file of a log folder, or of one partition's folder.

    Checksums, the order of offsets and leader epochs, offset, time and transaction indexes, producer snapshots,
    epoch and offset checkpoints, topic ids, metadata snapshots. Folders that a broker would not load are left out.

    Offsets that lie in no segment are a fault where a file, or a log that was never compacted, shows that a segment is
    missing; else they are named. A first segment that is missing cannot be told from one that retention deleted.
    """
    return verify_folder(directory, deep=deep, output=output)
