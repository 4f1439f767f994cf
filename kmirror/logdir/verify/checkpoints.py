"""Verification of the small files at the top of a log folder, alone and against the logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from kmirror.logdir.checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    META_PROPERTIES,
    RECOVERY_POINTS,
    FolderFacts,
    parse_properties,
    read_if_present,
    read_offsets,
)
from kmirror.logdir.faults import FileFault, Tally
from kmirror.logdir.partition import PartitionFolder

# Required keys by version: brokers with ZooKeeper wrote 0, those with KRaft write 1.
_META_KEYS: Final = {"0": ("broker.id",), "1": ("cluster.id", "node.id")}


def check_folder_files(top: Path, tally: Tally) -> None:
    """Check the files that do not depend on the logs."""
    _check_meta_properties(top / META_PROPERTIES, tally)
    _check_clean_shutdown(top / CLEAN_SHUTDOWN, tally)
    try:
        read_offsets(top / CLEANER_OFFSETS)
    except FileFault as error:
        tally.report_error(error)


def check_offsets(top: Path, facts: FolderFacts, folder: PartitionFolder, end: int, tally: Tally) -> None:
    """Compare a partition's values in the common checkpoints with the end of its log."""
    tp = folder.tp
    if folder.closed_at is not None and folder.closed_at < end:
        tally.add_fault(top / RECOVERY_POINTS, f"{tp} was closed at {folder.closed_at}, but its log ends at {end}")
    for name, offsets in (
        (HIGH_WATERMARKS, facts.high_watermarks),
        (LOG_START_OFFSETS, facts.log_start_offsets),
        (RECOVERY_POINTS, facts.recovery_points),
    ):
        offset = offsets.get(tp)
        if offset is not None and offset > end:
            tally.add_fault(top / name, f"{tp} is at {offset}, but its log ends at {end}")


def _check_meta_properties(path: Path, tally: Tally) -> None:
    data = read_if_present(path)
    if data is None:
        return
    fields = parse_properties(data)
    required_keys = _META_KEYS.get(fields.get("version", ""))
    if required_keys is None:
        tally.add_fault(path, f"version {fields.get('version')!r}, expected {' or '.join(_META_KEYS)}")
        return
    for key in required_keys:
        if not fields.get(key):
            tally.add_fault(path, f"{key} is missing")


def _check_clean_shutdown(path: Path, tally: Tally) -> None:
    data = read_if_present(path)
    if not data:
        return  # Brokers before 3.8 left it empty.
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("version"), int):
        tally.add_fault(path, "it is not a JSON object with a version")
