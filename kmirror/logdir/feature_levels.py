"""Which feature levels does a folder's metadata log have? Read before its controller begins; nothing is changed."""

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


def check_levels(folder: Path, asked: Mapping[str, int | None]) -> None:
    """Raise UsageError if the metadata log in `folder` has another level than is asked for.

    A level of None is not asked for. `mirror.version` is raised at the start, so only a lower one is refused.
    """
    if all(level is None for level in asked.values()):
        return
    found = feature_levels(folder)
    for name, level in asked.items():
        there = found.get(name, 0)
        if level is None or level == there or (name == MIRROR_VERSION and level > there):
            continue
        how = "upgrade" if level > there else "downgrade"
        raise UsageError(
            f"{folder}: its {name} is {there}, and {level} is asked for: serve it as it is, and change it by "
            f"kmirror features {how} --feature {name}={level}"
        )


def feature_levels(folder: Path) -> Mapping[str, int]:
    """Return the levels by name, those that the folder was formatted with if its log is empty; FileFault, OSError."""
    log = folder / f"{METADATA_TOPIC}-0"
    segments = [segment.path for segment in read_partition(log).segments] if log.is_dir() else []
    snapshots = sorted(log.glob("*.checkpoint"))[-1:]  # Their names begin with their ends, in digits of one width.
    levels = {name: level for path in (*snapshots, *segments) for name, level in _levels_in(path)}
    if not levels and (folder / BOOTSTRAP).is_file():
        levels = dict(_levels_in(folder / BOOTSTRAP))
    return levels


def _levels_in(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each level that this part of the log sets; it ends where it cannot be read, as after a crash."""
    with mapped(path) as file:
        try:
            for batch in iter_batches(file.view):
                for record in () if batch.is_control else batch.records():
                    message = decode_metadata_record(record.value or b"").message
                    if isinstance(message, FeatureLevelRecord):
                        yield message.name, message.feature_level
        except (CorruptBatch, ProtocolError):
            return
