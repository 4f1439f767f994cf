"""Transaction state of a log from the files of its partition folder.

Producer snapshots have the transactions open at their offset; the cleaner's checkpoint has the offset below which all
are decided. Unreadable files are ignored, as in a broker, which deletes such snapshots.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.committed import CommittedWalk
from kmirror.log.state_files import SNAPSHOT_SUFFIX, decode_snapshot, file_name
from kmirror.logdir.checkpoints import CLEANER_OFFSETS, read_if_present, read_offsets
from kmirror.logdir.faults import FileFault
from kmirror.logdir.partition import snapshots_of


def committed_walk(folder: Path, tp: TopicPartition, *, base_offset: int) -> CommittedWalk:
    """Return a walk for the log in `folder`, whose first segment begins at `base_offset`.

    Raises `Unreadable` for files that cannot be opened.
    """
    # A broker deletes snapshots below the log.
    snapshots = [offset for offset, _ in snapshots_of(folder) if offset >= base_offset]
    return CommittedWalk(snapshots, partial(_open_at, folder), cleaned_offset=_cleaned_offset(folder, tp))


def _open_at(folder: Path, offset: int) -> Mapping[int, int] | None:
    """Return the transactions open in the snapshot of `offset`, as {producer id: first offset}."""
    data = read_if_present(folder / file_name(offset, SNAPSHOT_SUFFIX))
    if data is None:
        return None  # A broker deleted it in the meantime.
    try:
        entries = decode_snapshot(data)
    except CorruptBatch:
        return None
    return {entry.producer_id: entry.txn_first_offset for entry in entries if entry.txn_first_offset >= 0}


def _cleaned_offset(folder: Path, tp: TopicPartition) -> int:
    try:
        return read_offsets(Path(os.path.abspath(folder)).parent / CLEANER_OFFSETS).get(tp, 0)
    except FileFault:
        return 0
