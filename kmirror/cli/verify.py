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
@click.option("--deep", is_flag=True, help="Also decompress every batch and check the lengths of its records.")
@click.option("-o", "--output", type=click.Choice(OUTPUTS), default=OUTPUTS[0], help="json: one line per fault or gap.")
def command(directory: Path, deep: bool, output: str) -> int:
    """Check every file of a log folder, or of one partition's folder.

    Checked are checksums, the order of offsets and leader epochs, offset, time and transaction indexes, producer
    snapshots, epoch and offset checkpoints, topic ids and metadata snapshots. Folders that a broker would not load are
    skipped.

    Offsets that are in no segment are a fault if a file, or a log that was never compacted, shows that a segment is
    missing; otherwise they are reported as a gap. A missing first segment cannot be distinguished from one that
    retention deleted.
    """
    return verify_folder(directory, deep=deep, output=output)
