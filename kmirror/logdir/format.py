"""Formatting an empty folder as a node's log folder, like `kafka-storage format --standalone`.

meta.properties           the ids of cluster, node and folder
bootstrap.checkpoint      the first records of an empty metadata log: feature levels
__cluster_metadata-0/     if the node is a controller
    00000000000000000000-0000000000.checkpoint   the voters: only this controller
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import CONTROLLER_NAME
from kmirror.kernel.uuid import Uuid
from kmirror.log.state_files import BOOTSTRAP
from kmirror.logdir.checkpoints import META_PROPERTIES, parse_properties, read_if_present
from kmirror.logdir.faults import FileFault
from kmirror.logdir.files import replace_file
from kmirror.protocol.gen import voters_record as voters
from kmirror.protocol.gen.kraft_version_record import KRaftVersionRecord
from kmirror.protocol.gen.snapshot_footer_record import SnapshotFooterRecord
from kmirror.protocol.gen.snapshot_header_record import SnapshotHeaderRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.control import ControlType, control_key
from kmirror.records.record import RecordData
from kmirror.spec.topics import METADATA_TOPIC

VOTERS_SNAPSHOT = f"{METADATA_TOPIC}-0/00000000000000000000-0000000000.checkpoint"
_VERSION = "1"  # Version of meta.properties without ZooKeeper.
_KRAFT_VERSION = 1


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Owner of a log folder."""

    cluster_id: str
    node_id: int
    directory_id: Uuid

    def encode(self) -> bytes:
        """Return the text of `meta.properties`."""
        pairs = {
            "version": _VERSION,
            "cluster.id": self.cluster_id,
            "node.id": self.node_id,
            "directory.id": self.directory_id,
        }
        return "".join(f"{key}={value}\n" for key, value in pairs.items()).encode("ascii")


def random_uuid() -> Uuid:
    """Return a new random id as Kafka creates them: without a leading dash, which commands would read as an option."""
    while True:
        uuid = Uuid(os.urandom(16))
        if not str(uuid).startswith("-"):
            return uuid


def directory_id_of(folder: Path) -> Uuid:
    """Return the id of an unformatted folder: always the same for the same path."""
    return Uuid(hashlib.blake2b(str(folder.absolute()).encode(), digest_size=16).digest())


def read_meta_properties(folder: Path) -> MetaProperties | None:
    """Return the owner of a folder, None without `meta.properties`; raises `FileFault` if that is damaged.

    A folder that Kafka formatted before 3.7 has no directory id (here zero) and gets one from its next broker.
    """
    path = folder / META_PROPERTIES
    data = read_if_present(path)
    if data is None:
        return None
    found = parse_properties(data)
    version = found.get("version")
    if version != _VERSION:
        raise FileFault(f"version {version}, expected {_VERSION}", path=path)
    try:
        node_id = int(found["node.id"])
        directory_id = Uuid.from_str(found["directory.id"]) if "directory.id" in found else Uuid.ZERO
        return MetaProperties(found["cluster.id"], node_id, directory_id)
    except KeyError as missing:
        raise FileFault(f"it has no {missing.args[0]}", path=path) from None
    except (ValueError, UsageError) as error:
        raise FileFault(f"an id in it is invalid: {error}", path=path) from None


def format_folder(
    folder: Path,
    ids: MetaProperties,
    bootstrap: Sequence[Message],
    *,
    now_ms: int,
    controller: Endpoint | None = None,
) -> None:
    """Format `folder` for a node; `controller` is the address of its controller, if it has one.

    `meta.properties` is written last: a folder that has it is complete. Raises OSError if the system fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    values = [encode_metadata_record(record, 0) for record in bootstrap]
    records = build_batch(
        [RecordData(value=value, timestamp=now_ms) for value in values], base_offset=1, partition_leader_epoch=0
    )
    header = _control([(ControlType.SNAPSHOT_HEADER, SnapshotHeaderRecord())], 0, now_ms)
    replace_file(folder / BOOTSTRAP, header + records + _footer(1 + len(values), now_ms))
    if controller is not None:
        path = folder / VOTERS_SNAPSHOT
        path.parent.mkdir(exist_ok=True)
        replace_file(path, _voters_snapshot(ids, controller, now_ms))
    replace_file(folder / META_PROPERTIES, ids.encode())


def _voters_snapshot(ids: MetaProperties, controller: Endpoint, now_ms: int) -> bytes:
    voter = voters.Voter(
        voter_id=ids.node_id,
        voter_directory_id=ids.directory_id,
        endpoints=[voters.Endpoint(name=CONTROLLER_NAME, host=controller.host, port=controller.port)],
        kraft_version_feature=voters.KRaftVersionFeature(min_supported_version=0, max_supported_version=_KRAFT_VERSION),
    )
    records_to_write = [
        (ControlType.SNAPSHOT_HEADER, SnapshotHeaderRecord(last_contained_log_timestamp=now_ms)),
        (ControlType.KRAFT_VERSION, KRaftVersionRecord(kraft_version=_KRAFT_VERSION)),
        (ControlType.KRAFT_VOTERS, voters.VotersRecord(voters=[voter])),
    ]
    return _control(records_to_write, 0, now_ms) + _footer(len(records_to_write), now_ms)


def _footer(offset: int, now_ms: int) -> bytes:
    return _control([(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord())], offset, now_ms)


def _control(records_to_write: Sequence[tuple[ControlType, Message]], base_offset: int, now_ms: int) -> bytes:
    records = [RecordData(control_key(kind), message.encode(0), (), now_ms) for kind, message in records_to_write]
    return build_batch(records, base_offset=base_offset, partition_leader_epoch=0, is_control=True)
