"""Feature levels in a folder's metadata log, read before its controller starts; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from kmirror.errors import CorruptBatch, ProtocolError, UsageError
from kmirror.log.state_files import BOOTSTRAP
from kmirror.logdir.mapped import mapped
from kmirror.logdir.partition import read_partition
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.keyed_records import decode_metadata_record
from kmirror.records.batch import iter_batches
from kmirror.spec.features import MIRROR_VERSION
from kmirror.spec.topics import METADATA_TOPIC


def check_levels(folder: Path, requested: Mapping[str, int | None]) -> None:
    """Raise UsageError if the metadata log in `folder` has a different level than requested.

    None requests no level. `mirror.version` is raised at startup, so only a lower level is rejected.
    """
    if all(level is None for level in requested.values()):
        return
    found = feature_levels(folder)
    for name, level in requested.items():
        present = found.get(name, 0)
        if level is None or level == present or (name == MIRROR_VERSION and level > present):
            continue
        action = "upgrade" if level > present else "downgrade"
        raise UsageError(
            f"{folder}: its {name} is {present}, and {level} is asked for: serve it as it is, and change it by "
            f"kmirror features {action} --feature {name}={level}"
        )


def feature_levels(folder: Path) -> Mapping[str, int]:
    """Return levels by name; if the log is empty, the levels it was formatted with. Raises FileFault and OSError."""
    log = folder / f"{METADATA_TOPIC}-0"
    segments = [segment.path for segment in read_partition(log).segments] if log.is_dir() else []
    snapshots = sorted(log.glob("*.checkpoint"))[-1:]  # Names begin with the end offset, in fixed width.
    levels = {name: level for path in (*snapshots, *segments) for name, level in _levels_in(path)}
    if not levels and (folder / BOOTSTRAP).is_file():
        levels = dict(_levels_in(folder / BOOTSTRAP))
    return levels


def _levels_in(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each level set in this part of the log; stops at the first unreadable byte, as after a crash."""
    with mapped(path) as file:
        try:
            for batch in iter_batches(file.view):
                for record in () if batch.is_control else batch.records():
                    message = decode_metadata_record(record.value or b"").message
                    if isinstance(message, FeatureLevelRecord):
                        yield message.name, message.feature_level
        except (CorruptBatch, ProtocolError):
            return
