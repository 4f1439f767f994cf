"""Requests of admin clients about configs, records, log directories and transactions, valid and invalid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kmirror.protocol.gen import alter_configs_request as legacy
from kmirror.protocol.gen import incremental_alter_configs_request as incremental
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_log_dirs_request import DescribableLogDirTopic, DescribeLogDirsRequest
from kmirror.protocol.gen.describe_producers_request import DescribeProducersRequest, TopicRequest
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_transactions_request import ListTransactionsRequest
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.message import Message
from kmirror.records import Compression, RecordData, build_batch
from tests.interop.topics.session import Session

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = range(4)
COORDINATOR_ERRORS = (14, 15, 16, 51)


def describe(kind: int, name: str, keys: Sequence[str] | None = None) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    return DescribeConfigsRequest(resources=[resource], include_synonyms=True)


def alter(
    kind: int, name: str, values: Sequence[tuple[str, str | None]], *, only_try: bool = False
) -> legacy.AlterConfigsRequest:
    configs = [legacy.AlterableConfig(name=key, value=value) for key, value in values]
    resource = legacy.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return legacy.AlterConfigsRequest(resources=[resource], validate_only=only_try)


def step(
    kind: int, name: str, steps: Sequence[tuple[str, int, str | None]], *, only_try: bool = False
) -> incremental.IncrementalAlterConfigsRequest:
    configs = [incremental.AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in steps]
    resource = incremental.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return incremental.IncrementalAlterConfigsRequest(resources=[resource], validate_only=only_try)


def delete(*rows: tuple[str, int, int]) -> DeleteRecordsRequest:
    topics = [
        DeleteRecordsTopic(name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)])
        for name, index, offset in rows
    ]
    return DeleteRecordsRequest(topics=topics, timeout_ms=10_000)


def offset(topic: str, timestamp: int, partition: int = 0, **details: Any) -> ListOffsetsRequest:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp, **details)
    return ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[asked])])


def batch(count: int, **details: Any) -> bytes:
    rows = [RecordData(key=b"k%d" % number, value=b"v", timestamp=1) for number in range(count)]
    return build_batch(rows, **details)


def produce(topic: str, records: bytes, transactional_id: str | None = None) -> ProduceRequest:
    data = [PartitionProduceData(index=0, records=records)]
    rows = [TopicProduceData(name=topic, partition_data=data)]
    return ProduceRequest(acks=-1, timeout_ms=10_000, transactional_id=transactional_id, topic_data=rows)


def producers(*rows: tuple[str, Sequence[int]]) -> DescribeProducersRequest:
    return DescribeProducersRequest(
        topics=[TopicRequest(name=name, partition_indexes=list(indexes)) for name, indexes in rows]
    )


class Admin(Session):
    """A session with the steps that start most of the script."""

    def make(self, name: str, **configs: str) -> str:
        """Create a topic; in the names of configs `_` means a dot. Return its name once it is writable."""
        rows = [CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=rows)
        self.ask(f"create {name}", CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 4)
        self.wait_for(name)
        self.until(lambda: self.quiet(offset(name, -1), 5).topics[0].partitions[0].error_code == 0)
        return name

    def quiet(self, body: Message, version: int) -> Any:
        """Send a request without recording the response."""
        return self._peer.ask(body, version)

    def until(self, is_so: Callable[[], bool]) -> None:
        self.wait("what the script waits for", is_so)

    def until_shown(self, kind: int, name: str, key: str, value: str | None) -> None:
        """Wait until the broker returns this value of a config."""

        def is_shown() -> bool:
            rows = self.quiet(describe(kind, name, [key]), 4).results[0].configs
            return (rows[0].value if rows else None) == value

        self.until(is_shown)

    def until_coordinated(self, body: Message, version: int) -> Any:
        """Repeat the request until the coordinator has loaded its state."""
        answers: list[Any] = []

        def is_answered() -> bool:
            answers.append(self.quiet(body, version))
            return answers[-1].error_code not in COORDINATOR_ERRORS

        self.until(is_answered)
        return answers[-1]


def describing(session: Admin) -> None:
    """DescribeConfigs: every key, with its value, type and sources."""
    topic = session.make(
        "described",
        retention_ms=" 5000 ",
        cleanup_policy="compact, delete",
        min_cleanable_dirty_ratio=".25",
        preallocate="TRUE",
        internal_segment_bytes="+900000",
    )
    for version in range(1, 5):
        session.ask("topic", describe(TOPIC, topic), version)
        session.ask("broker", describe(BROKER, "1"), version)
        session.ask("cluster", describe(BROKER, ""), version)
    session.ask("by key", describe(TOPIC, topic, ["retention.ms", "nope"]), 4)
    session.ask("no key", describe(TOPIC, topic, []), 4)
    for name in ("", "nope", "a b", "..", "x" * 250):
        session.ask(f"topic {name[:9]!r}", describe(TOPIC, name), 1, 4)
    for name in ("2", "x", "-1", "01", "+1", "99999999999", "100"):
        session.ask(f"broker {name!r}", describe(BROKER, name, ["node.id"]), 1, 4)
    for kind in (0, 1, 3, 5, 8, 16, 32, 64, -3):
        session.ask(f"resource of type {kind}", describe(kind, "1"), 4)


WRONG: Mapping[str, Sequence[tuple[str, str | None]]] = {
    "unknown": [("nope", "1")],
    "not a number": [("retention.ms", "soon")],
    "too small": [("retention.ms", "-2")],
    "null": [("retention.ms", None)],
    "nulls": [("retention.ms", None), ("segment.ms", None)],
    "twice": [("retention.ms", "1"), ("retention.ms", "2")],
    "no choice": [("cleanup.policy", "shred")],
    "empty list": [("cleanup.policy", "")],
    "no boolean": [("preallocate", "perhaps")],
    "gzip": [("compression.gzip.level", "0")],
    "lz4": [("compression.lz4.level", "18")],
    "empty": [("retention.ms", "")],
    "throttled": [("leader.replication.throttled.replicas", "1-2")],
    "codec": [("compression.type", "brotli")],
    "tiered": [("remote.storage.enable", "true")],
    "crossed": [("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "5")],
    "tiered bytes": [("local.retention.bytes", "-3")],
    "ratio": [("min.cleanable.dirty.ratio", "1.5")],
    "segment": [("segment.bytes", "1")],
    "no int": [("segment.bytes", "99999999999")],
}
WRONG_FOR_BROKERS: Mapping[str, Sequence[tuple[str, str | None]]] = {
    "fixed": [("num.partitions", "3")],
    "not a number": [("log.retention.ms", "x")],
    "too small": [("min.insync.replicas", "0")],
    "null": [("log.cleaner.threads", None)],
    "ratio": [("log.cleaner.min.cleanable.ratio", "7")],
    "codec": [("compression.type", "brotli")],
    "policy": [("log.cleanup.policy", "shred")],
}


def sets(values: Sequence[tuple[str, str | None]]) -> list[tuple[str, int, str | None]]:
    return [(key, SET, value) for key, value in values]


def altering(session: Admin) -> None:
    """AlterConfigs and IncrementalAlterConfigs of topics."""
    topic = session.make("altered")
    for version in range(3):
        session.ask("alter", alter(TOPIC, topic, [("retention.ms", "1000"), ("cleanup.policy", "compact")]), version)
    session.until_shown(TOPIC, topic, "retention.ms", "1000")
    session.ask("altered", describe(TOPIC, topic, ["retention.ms", "cleanup.policy"]), 4)
    session.ask("alter less", alter(TOPIC, topic, [("retention.ms", "2000")]), 2)
    session.until_shown(TOPIC, topic, "retention.ms", "2000")
    session.ask("altered less", describe(TOPIC, topic, ["retention.ms", "cleanup.policy"]), 4)
    session.ask("only tried", alter(TOPIC, topic, [("retention.ms", "3000")], only_try=True), 2)
    session.ask("alter to nothing", alter(TOPIC, topic, []), 2)
    session.until_shown(TOPIC, topic, "retention.ms", "604800000")
    for label, values in WRONG.items():
        session.ask(f"wrong: {label}", alter(TOPIC, topic, values), 2)
        session.ask(f"wrong step: {label}", step(TOPIC, topic, sets(values)), 0, 1)
    for name in ("nope", "a b", ""):
        session.ask(f"topic {name!r}", alter(TOPIC, name, [("retention.ms", "1")]), 2)
        session.ask(f"topic {name!r} step", step(TOPIC, name, [("retention.ms", SET, "1")]), 1)
    for kind in (0, 1, 3, 5, 64, -3):
        session.ask(f"resource of type {kind}", alter(kind, "1", [("a", "b")]), 2)
        if kind != 64:
            session.ask(f"resource of type {kind} step", step(kind, "1", [("a", SET, "b")]), 1)
    session.ask("alter to nothing again", alter(TOPIC, topic, []), 2)
    session.until_shown(TOPIC, topic, "cleanup.policy", "delete")
    session.ask("append to a number", step(TOPIC, topic, [("retention.ms", APPEND, "1")]), 1)
    session.ask("append to nothing known", step(TOPIC, topic, [("nope", APPEND, "1")]), 1)
    session.ask("append", step(TOPIC, topic, [("cleanup.policy", APPEND, "compact")]), 1)
    session.until_shown(TOPIC, topic, "cleanup.policy", "delete,compact")
    session.ask("subtract", step(TOPIC, topic, [("cleanup.policy", SUBTRACT, "delete,nope")]), 1)
    session.until_shown(TOPIC, topic, "cleanup.policy", "compact")
    session.ask("subtract the last", step(TOPIC, topic, [("cleanup.policy", SUBTRACT, "compact")]), 1)
    session.ask("delete", step(TOPIC, topic, [("cleanup.policy", DELETE, None)]), 1)
    session.until_shown(TOPIC, topic, "cleanup.policy", "delete")
    session.ask("delete what is unknown", step(TOPIC, topic, [("nope", DELETE, None)]), 1)


def altering_brokers(session: Admin) -> None:
    """The same for one broker and for all."""
    topic = session.make("below")
    session.ask("one", step(BROKER, "1", [("log.cleaner.threads", SET, "2")]), 1)
    session.ask("all", step(BROKER, "", [("log.retention.ms", SET, "86400000")]), 1)
    session.until_shown(BROKER, "1", "log.retention.ms", "86400000")
    session.until_shown(BROKER, "1", "log.cleaner.threads", "2")
    keys = ["log.retention.ms", "log.retention.minutes", "log.retention.hours", "log.cleaner.threads"]
    session.ask("told by the broker", describe(BROKER, "1", keys), 4)
    session.ask("told of all brokers", describe(BROKER, ""), 4)
    session.ask("told by a topic", describe(TOPIC, topic, ["retention.ms"]), 4)
    for name in ("2", "x", "-1", "01", "999999999999"):
        session.ask(f"broker {name!r}", alter(BROKER, name, [("log.cleaner.threads", "1")], only_try=True), 2)
        session.ask(f"broker {name!r} step", step(BROKER, name, [("log.cleaner.threads", SET, "1")], only_try=True), 1)
    for label, values in WRONG_FOR_BROKERS.items():
        for name in ("1", ""):
            session.ask(f"wrong: {label} of {name!r}", alter(BROKER, name, values, only_try=True), 2)
            session.ask(f"wrong step: {label} of {name!r}", step(BROKER, name, sets(values), only_try=True), 1)
    session.ask("append to a number", step(BROKER, "1", [("log.cleaner.threads", APPEND, "1")]), 1)
    session.ask("append to nothing known", step(BROKER, "1", [("foo", SUBTRACT, "1")]), 1)
    session.ask("append", step(BROKER, "", [("log.cleanup.policy", APPEND, "compact")], only_try=True), 1)
    session.ask("alter", alter(BROKER, "", [("log.retention.ms", "5000")]), 2)
    session.until_shown(BROKER, "1", "log.retention.ms", "5000")
    for name in ("", "1"):
        session.ask(f"alter {name!r} to nothing", alter(BROKER, name, []), 2)
    session.until_shown(BROKER, "1", "log.retention.ms", None)
    session.until_shown(BROKER, "1", "log.cleaner.threads", "1")


def deleting(session: Admin) -> None:
    """DeleteRecords, and the sizes in DescribeLogDirs."""
    topic, compacted = session.make("shortened"), session.make("compacted", cleanup_policy="compact")
    session.ask("produce", produce(topic, batch(5)), 9)
    session.quiet(produce(compacted, batch(5)), 9)
    for version in range(3):
        session.ask("two", delete((topic, 0, 2)), version)
    session.ask("begins at", offset(topic, -2), 7)
    for label, row in {
        "lower": (topic, 0, 1),
        "beyond": (topic, 0, 6),
        "negative": (topic, 0, -2),
        "no topic": ("nope", 0, 0),
        "no partition": (topic, 9, 0),
        "compacted": (compacted, 0, 1),
        "illegal": ("a b", 0, 0),
        "all": (topic, 0, -1),
        "all again": (topic, 0, -1),
    }.items():
        session.ask(label, delete(row), 2)
    session.ask("begins at the end", offset(topic, -2), 7)
    session.ask("nothing", delete(), 0, 2)
    rows = [DescribableLogDirTopic(topic=name, partitions=[0, 7]) for name in (topic, compacted, "nope")]
    session.ask("log dirs", DescribeLogDirsRequest(topics=rows), *range(1, 6))
    session.ask("no log dirs", DescribeLogDirsRequest(topics=[]), 1, 4)


def transacting(session: Admin) -> None:
    """DescribeProducers, DescribeTransactions and ListTransactions during the life of a transaction."""
    topic, name = session.make("transacted"), "tx"
    session.ask("idempotent", produce(topic, batch(2, producer_id=77, producer_epoch=0, base_sequence=0)), 9)
    session.ask("producers", producers((topic, [0, 1]), ("nope", [0]), ("a b", [0, 1]), ("", [0])), 0)
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=[name])
    session.until(lambda: session.quiet(find, 4).coordinators[0].error_code == 0)
    made = session.until_coordinated(InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000), 4)
    own = {"producer_id": made.producer_id, "producer_epoch": made.producer_epoch}
    asked = DescribeTransactionsRequest(transactional_ids=[name, "nope", ""])
    session.ask("empty", asked, 0)
    rows = [AddPartitionsToTxnTopic(name=topic, partitions=[0])]
    session.quiet(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=made.producer_id,
            v3_and_below_producer_epoch=made.producer_epoch,
            v3_and_below_topics=rows,
        ),
        3,
    )
    records = batch(2, base_sequence=0, is_transactional=True, **own)
    session.ask("produce", produce(topic, records, name), 9)
    session.ask("ongoing", asked, 0)
    session.ask("ongoing producers", producers((topic, [0])), 0)
    for version in range(3):
        session.ask("list", ListTransactionsRequest(), version)
    for label, filters in {
        "in a state": {"state_filters": ["Ongoing"]},
        "in other states": {"state_filters": ["CompleteCommit", "Nope"]},
        "of a producer": {"producer_id_filters": [made.producer_id]},
        "of another producer": {"producer_id_filters": [made.producer_id + 1000]},
        "that is old": {"duration_filter": 100_000_000},
        "by pattern": {"transactional_id_pattern": "t[xy]"},
        "by another pattern": {"transactional_id_pattern": "x"},
        "by no pattern": {"transactional_id_pattern": "("},
    }.items():
        session.ask(f"list what is {label}", ListTransactionsRequest(**filters), 2)  # type: ignore[arg-type]
    session.quiet(EndTxnRequest(transactional_id=name, committed=True, **own), 3)
    described = DescribeTransactionsRequest(transactional_ids=[name])
    session.until(lambda: session.quiet(described, 0).transaction_states[0].transaction_state.startswith("Complete"))
    session.ask("committed", asked, 0)
    session.ask("producers of what is committed", producers((topic, [0])), 0)
    session.ask("delete from what is internal", delete(("__transaction_state", 0, 0)), 2)


def producing(session: Admin) -> None:
    """Effects of a topic's configs on written records, and results of ListOffsets and OffsetForLeaderEpoch."""
    small = session.make("small", max_message_bytes="200")
    session.ask("small enough", produce(small, batch(1)), 9)
    session.ask("too large", produce(small, build_batch([RecordData(None, b"x" * 300)])), 9)
    session.ask("stamped", produce(session.make("stamped", message_timestamp_type="LogAppendTime"), batch(2)), 9)
    for codec in ("gzip", "lz4", "snappy", "zstd", "uncompressed", "producer"):
        topic = session.make(codec, compression_type=codec)
        session.ask(f"{codec} of plain", produce(topic, batch(3)), 9)
        session.ask(f"{codec} of lz4", produce(topic, batch(3, compression=Compression.LZ4)), 9)
    keyed = session.make("keyed", cleanup_policy="compact")
    session.ask("without key", produce(keyed, build_batch([RecordData(b"k", b"x"), RecordData(None, b"x")])), 8)
    session.ask("with key", produce(keyed, batch(1)), 9)
    early, late = session.make("early", message_timestamp_before_max_ms="1000"), session.make("late")
    session.ask("too early", produce(early, batch(2)), 9)
    session.ask("too late", produce(late, build_batch([RecordData(None, b"x", timestamp=4_102_444_800_000)])), 9)
    session.ask("too few", produce(session.make("few", min_insync_replicas="2"), batch(1)), 9)
    topic = session.make("found")
    session.quiet(produce(topic, batch(5)), 9)
    session.quiet(produce(topic, build_batch([RecordData(None, b"x", timestamp=50)])), 9)
    for timestamp in (-1, -2, -3, -4, -5, -6, -7, 0, 1, 2, 50, 51):
        session.ask(f"offset at {timestamp}", offset(topic, timestamp), *range(1, 12))
    session.ask("offset in another epoch", offset(topic, -1, current_leader_epoch=5), 4, 11)
    session.ask("offset in no partition", offset(topic, -1, 7), 1, 11)
    for epoch in (-1, 0, 1, 5):
        for current in (-1, 0, 3):
            parts = [
                OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)
                for index in (0, 9)
            ]
            asked = OffsetForLeaderEpochRequest(
                replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=parts)]
            )
            session.ask(f"epoch {epoch} in {current}", asked, 2, 3, 4)


def greeting(session: Admin) -> None:
    """ApiVersions of a client that does not give its name and version."""
    for label, name in {"nameless": "", "blank": "a b"}.items():
        session.ask(label, ApiVersionsRequest(client_software_name=name, client_software_version="1"), 3, 4)


def levels(*rows: tuple[str, int, int], only_try: bool = False) -> UpdateFeaturesRequest:
    updates = [FeatureUpdateKey(name, level, upgrade_type=how) for name, level, how in rows]
    return UpdateFeaturesRequest(feature_updates=updates, validate_only=only_try)


UP, SAFE, UNSAFE = 1, 2, 3
LEVELS: Mapping[str, Sequence[tuple[str, int, int]]] = {
    "nothing": [],
    "the same level": [("metadata.version", 30, UP)],
    "the same level, down": [("metadata.version", 30, SAFE)],
    "an unknown feature": [("nope.version", 1, UP)],
    "an unknown feature, off": [("nope.version", 0, SAFE)],
    "below 0": [("metadata.version", -1, SAFE)],
    "above what is supported": [("metadata.version", 31, UP)],
    "below what is supported": [("metadata.version", 6, UNSAFE)],
    "down without a word": [("metadata.version", 29, UP)],
    "safely down": [("metadata.version", 29, SAFE)],
    "unsafely down": [("metadata.version", 7, UNSAFE)],
    "in no direction": [("metadata.version", 30, 0)],
    "in an unknown direction": [("metadata.version", 30, 4)],
    "one of two": [("metadata.version", 30, UP), ("nope.version", 1, UP)],
}


def updating_features(session: Admin) -> None:
    """UpdateFeatures: refusals and their messages; of permitted updates only those without an effect."""
    for label, rows in LEVELS.items():
        session.ask(label, levels(*rows), *((0,) if {UP}.issuperset(how for _, _, how in rows) else ()), 1, 2)
        session.ask(f"{label}, tried", levels(*rows, only_try=True), 1, 2)


SCRIPTS = (
    describing,
    altering,
    altering_brokers,
    deleting,
    transacting,
    producing,
    updating_features,
    greeting,
)
