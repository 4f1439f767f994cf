"""The other parts of a KRaft node's folder: the metadata log and the node's id.

The controller finds the topics, with their ids and configs, in `__cluster_metadata-0`, which kmirror writes. As after a
clean shutdown no partition has a leader until the broker has started and is elected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import AppendOrigin, LogConfig, PartitionLog
from kmirror.log.state_files import encode_partition_metadata
from kmirror.log.store import PARTITION_METADATA
from kmirror.logdir.store import LogFolder
from kmirror.protocol.gen.begin_transaction_record import BeginTransactionRecord
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.end_transaction_record import EndTransactionRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records import RecordData, build_batch

NODE_ID = 1
CLUSTER_ID = Uuid.from_ints(1, 1)
DIRECTORY_ID = Uuid.from_ints(1, 2)
METADATA = TopicPartition("__cluster_metadata", 0)
METADATA_ID = Uuid.from_ints(0, 1)
# Of 4.3.1. Without eligible.leader.replicas.version a replica stays in sync after an unclean shutdown too.
FEATURES = {"metadata.version": 30, "group.version": 1, "transaction.version": 2}
# Above all ids in the logs: an id with a higher epoch there would fence the producer that gets it now.
NEXT_PRODUCER_ID = 80_000_000_000
TOPIC = 2  # A resource type.
CLEAN_SHUTDOWN_FILE = ".kafka_cleanshutdown"


@dataclass(frozen=True, slots=True)
class Topic:
    """`epochs` has the last leader epoch of each partition."""

    topic_id: Uuid
    configs: Mapping[str, str]
    epochs: dict[int, int]


def finish(folder: LogFolder, topics: Mapping[str, Topic], *, now_ms: int) -> None:
    """Write the remaining files of a folder, as after a clean shutdown of a node with these topics."""
    records: list[tuple[Message, int]] = [(BeginTransactionRecord(name="Bootstrap records"), 0)]
    records += [(FeatureLevelRecord(name=name, feature_level=level), 0) for name, level in FEATURES.items()]
    records += [record for name, topic in topics.items() for record in _topic(name, topic)]
    ids = ProducerIdsRecord(broker_id=NODE_ID, broker_epoch=-1, next_producer_id=NEXT_PRODUCER_ID)
    records += [(ids, 0), (EndTransactionRecord(), 0)]
    write_metadata(folder, records, now_ms=now_ms)
    lines = (f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={NODE_ID}\n", f"directory.id={DIRECTORY_ID}\n")
    (folder.path / "meta.properties").write_text("".join(lines))
    (folder.path / CLEAN_SHUTDOWN_FILE).write_text(json.dumps({"version": 0, "brokerEpoch": -1}))


def _topic(name: str, topic: Topic) -> Iterable[tuple[Message, int]]:
    yield TopicRecord(name=name, topic_id=topic.topic_id), 0
    for partition, epoch in topic.epochs.items():
        row = PartitionRecord(
            partition_id=partition,
            topic_id=topic.topic_id,
            replicas=[NODE_ID],
            isr=[NODE_ID],
            leader=-1,
            leader_epoch=max(epoch, 0),
            partition_epoch=0,
            directories=[DIRECTORY_ID],
        )
        yield row, 1
    for key, value in topic.configs.items():
        yield ConfigRecord(resource_type=TOPIC, resource_name=name, name=key, value=value), 0


def write_metadata(folder: LogFolder, records: Iterable[tuple[Message, int]], *, now_ms: int) -> None:
    store = folder.open(METADATA)
    log = PartitionLog.open(METADATA, store, LogConfig(), now_ms=now_ms)
    data = [RecordData(None, encode_metadata_record(*record), (), now_ms) for record in records]
    log.append_as_leader(build_batch(data), leader_epoch=1, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)
    store.write_file(PARTITION_METADATA, encode_partition_metadata(METADATA_ID))
    log.update_high_watermark(log.log_end_offset)
    log.close()
    quorum = {
        "clusterId": "",
        "leaderId": NODE_ID,
        "leaderEpoch": 1,
        "votedId": -1,
        "appliedOffset": 0,
        "currentVoters": [{"voterId": NODE_ID}],
        "data_version": 0,
    }
    (store.path / "quorum-state").write_text(json.dumps(quorum))
