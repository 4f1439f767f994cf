"""Records of internal topics to break: keys and values of every type and version, in batches.

A coordinator record's key begins with its type, its value with its version; a metadata record's value begins with both,
and it has no key. A frame is the log of a whole partition: a broken record is among valid ones, and its batch is
intact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from kmirror.fuzz.grammar import grammar
from kmirror.fuzz.mutations import mutate
from kmirror.fuzz.spots import RawSpot, SpotKind
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame
from kmirror.fuzz.vocabulary import Vocabulary
from kmirror.kernel.listeners import DEFAULT_NAME
from kmirror.kernel.uuid import Uuid
from kmirror.protocol import wire
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kmirror.protocol.gen.registry import COORDINATOR_RECORDS, METADATA_RECORDS
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.gen.transaction_log_value import TransactionLogValue
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import uvarint
from kmirror.records import layout
from kmirror.records.build import build_batch
from kmirror.records.control import end_txn_marker
from kmirror.records.record import RecordData
from kmirror.spec.topics import GROUP_TOPIC, METADATA_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC

Draw = Callable[[], float]

TOPICS = (GROUP_TOPIC, GROUP_TOPIC, TRANSACTION_TOPIC, MIRROR_STATE_TOPIC, METADATA_TOPIC)
_IDS = (Uuid.from_ints(7, 1), Uuid.from_ints(7, 2))
_PRODUCER_ID = 7
_TOMBSTONE_SHARE = 0.15
_TRANSACTION_SHARE = 0.3
_EMPTY = 0
_WORDS = MappingProxyType(
    {
        "topicName": ("orders", "payments"),
        "topic": ("orders", "payments"),
        "name": ("orders", "metadata.version", "cleanup.policy"),
        "groupId": ("group", "other"),
        "group": ("group", "other", "ä"),
        "member_id": ("member-1", "member-2"),
        "leader": ("member-1", "member-3"),
        "transactional_id": ("transaction", "other"),
        "transactionalId": ("transaction", "other"),
        "mirror_name": ("mirror", "other"),
        "cluster_id": ("cluster-a", "cluster-b"),
    }
)
_NUMBERS = MappingProxyType(
    {
        "transaction_status": (0, 1, 2, 3, 4, 5, 6, 7),
        "client_transaction_version": (0, 1, 2),
        "state": (0, 1, 2, 3, 4, 5, 6, 16),
        "brokerId": (1, 2),
        "broker_id": (1, 2),
        "id": (1, 2),
        "partition_id": (0, 1),
        "leader": (1, 2, -1, -2),
        "feature_level": (0, 1, 30),
    }
)
VOCABULARY = Vocabulary(1.0, _WORDS, _IDS, _NUMBERS)
# Each is valid after any other records.
_ALWAYS_VALID = (
    "ConfigRecord", "FeatureLevelRecord", "ProducerIdsRecord", "NoOpRecord", "RegisterControllerRecord",
    "DelegationTokenRecord", "UserScramCredentialRecord", "ClientQuotaRecord", "AccessControlEntryRecord",
    "UnregisterBrokerRecord", "ZkMigrationStateRecord",
)  # fmt: skip
INCONSISTENT = "records of any type, which need not fit each other"


class EncodedPart(NamedTuple):
    """A key or a value as bytes, with its spots."""

    data: bytearray
    spots: list[RawSpot]


@dataclass(slots=True)
class RecordParts:
    """A record: its key and its value; each may be null."""

    key: EncodedPart | None
    value: EncodedPart | None


class InternalTopicStream:
    """The logs of a seed: partitions of internal topics, valid and with broken records."""

    def __init__(self, seed: int, topics: Sequence[str] = TOPICS) -> None:
        self.seed = seed
        self._topics = tuple(topics)

    def block(self, number: int) -> list[Frame]:
        """Return a log and its broken variants; the first is valid and can be loaded."""
        random = Random(f"{self.seed}/internal/{number}").random
        topic = self._topics[int(random() * len(self._topics))]
        ends_transaction = topic == GROUP_TOPIC and random() < _TRANSACTION_SHARE
        rows = _draw_records(random, topic, always_valid=True)
        first = number * BLOCK_FRAMES
        found = [Frame(first, topic, 0, _build_log(rows, ends_transaction), (), False)]
        if topic == METADATA_TOPIC:
            rows = rows[:_PRELUDE_SIZE] + _draw_records(random, topic, always_valid=False)[_PRELUDE_SIZE:]
        for frame_number in range(first + 1, first + BLOCK_FRAMES):
            broken, steps = _break_records(random, rows)
            if topic == METADATA_TOPIC:
                steps.insert(0, INCONSISTENT)
            found.append(Frame(frame_number, topic, 0, _build_log(broken, ends_transaction), steps, False))
        return found

    def mutate_again(self, parent: Frame, random: Draw) -> Frame:
        """Return the log with more of its bytes broken, at any position."""
        spots: list[RawSpot] = [(SpotKind.BYTES, at, at + 1, None) for at in range(len(parent.data))]
        data, steps = mutate(random, bytearray(parent.data), spots)
        return parent._replace(data=bytes(data), steps=[*parent.steps, *steps])


# -- valid records ------------------------------------------------------------------------------


def _prelude_values() -> list[bytes]:
    """Return metadata records that later ones refer to: two brokers, two topics, a partition of each."""
    found: list[tuple[Message, int]] = []
    for number in (1, 2):
        listener = BrokerEndpoint(name=DEFAULT_NAME, host="localhost", port=9_000 + number)
        found.append((RegisterBrokerRecord(broker_id=number, broker_epoch=number, end_points=[listener]), 3))
    for name, topic_id in zip(_WORDS["topicName"], _IDS, strict=True):
        found.append((TopicRecord(name=name, topic_id=topic_id), 0))
        replicas = PartitionRecord(partition_id=0, topic_id=topic_id, replicas=[1, 2], isr=[1, 2], leader=1)
        found.append((replicas, 0))
    return [encode_metadata_record(record, version) for record, version in found]


_PRELUDE_VALUES = _prelude_values()
_PRELUDE_SIZE = len(_PRELUDE_VALUES)


def _draw_records(random: Draw, topic: str, *, always_valid: bool) -> list[RecordParts]:
    """Return some records of a topic; with `always_valid`, only metadata records that are valid after any others."""
    count = 2 + int(random() * 6)
    if topic == METADATA_TOPIC:
        types = [number for number, name in METADATA_RECORDS.items() if not always_valid or name in _ALWAYS_VALID]
        prelude = [RecordParts(None, EncodedPart(bytearray(value), [])) for value in _PRELUDE_VALUES]
        return prelude + [
            RecordParts(None, _draw_metadata_value(random, types[int(random() * len(types))])) for _ in range(count)
        ]
    types = list(COORDINATOR_RECORDS[topic])
    return [_draw_coordinator_record(random, topic, types[int(random() * len(types))]) for _ in range(count)]


def _draw_metadata_value(random: Draw, record_type: int) -> EncodedPart:
    message = by_name(METADATA_RECORDS[record_type])
    version = _draw_version(random, message)
    head, spots = bytearray(), list[RawSpot]()
    for name, number in (("frame_version", 1), ("record_type", record_type), ("version", version)):
        start = len(head)
        head += uvarint(number)
        spots.append((SpotKind.TAG, start, len(head), Field(name, name, "uvarint", (0, 0))))
    return _with_body(random, head, spots, message, version)


def _draw_coordinator_record(random: Draw, topic: str, record_type: int) -> RecordParts:
    key_name, value_name = COORDINATOR_RECORDS[topic][record_type]
    key = _with_body(random, *_int16("record_type", record_type), by_name(key_name), 0)
    if random() < _TOMBSTONE_SHARE:
        return RecordParts(key, None)
    message = by_name(value_name)
    while True:
        version = _draw_version(random, message)
        value = _with_body(random, *_int16("version", version), message, version)
        if message is not TransactionLogValue or _has_required_partitions(value.data, version):
            return RecordParts(key, value)


def _has_required_partitions(data: bytearray, version: int) -> bool:
    """Return whether a transaction has the partitions array, null or not, that its status requires."""
    value = TransactionLogValue.decode(bytes(data[2:]), version)
    return value.transaction_partitions is not None or value.transaction_status == _EMPTY


def _draw_version(random: Draw, message: type[Message]) -> int:
    return message.MIN_VERSION + int(random() * (message.MAX_VERSION - message.MIN_VERSION + 1))


def _int16(name: str, number: int) -> tuple[bytearray, list[RawSpot]]:
    return bytearray(wire.pack_int16(number)), [(SpotKind.NUMBER, 0, 2, Field(name, name, "int16", (0, 0)))]


def _with_body(
    random: Draw, head: bytearray, spots: list[RawSpot], message: type[Message], version: int
) -> EncodedPart:
    body = grammar(message, version, VOCABULARY, ()).draw(random)
    size = len(head)
    moved: list[RawSpot] = [(kind, size + start, size + end, field) for kind, start, end, field in body.spots]
    return EncodedPart(head + body.data, [*spots, *moved])


# -- broken records -----------------------------------------------------------------------------


def _break_records(random: Draw, rows: Sequence[RecordParts]) -> tuple[list[RecordParts], list[str]]:
    """Return the records with one to three of them broken, and a description of each change."""
    found, changes = list(rows), list[str]()
    for _ in range((1, 1, 2, 3)[int(random() * 4)]):
        at = int(random() * len(found))
        row, x = found[at], random()
        if x < 0.05:
            found.insert(int(random() * (len(found) + 1)), row)
            changes.append(f"record {at} twice")
        elif x < 0.1:
            found[at] = RecordParts(None, row.value)
            changes.append(f"record {at} without a key")
        elif x < 0.15:
            found[at] = RecordParts(row.key, None)
            changes.append(f"record {at} without a value")
        else:
            name = "key" if row.value is None or (row.key is not None and random() < 0.4) else "value"
            part = row.key if name == "key" else row.value
            if part is None or not part.spots:
                continue
            data, steps = mutate(random, part.data, part.spots)
            changed = EncodedPart(data, [])
            found[at] = RecordParts(changed, row.value) if name == "key" else RecordParts(row.key, changed)
            changes += [f"{name} of record {at}: {step}" for step in steps]
    return found, changes or ["no change"]


def _build_log(rows: Sequence[RecordParts], ends_transaction: bool) -> bytes:
    """Return the records in two batches of half each; with `ends_transaction` the second is a committed transaction."""
    half = len(rows) // 2
    data = build_batch([_record_data(row) for row in rows[:half]]) if half else b""
    data += build_batch(
        [_record_data(row) for row in rows[half:]],
        base_offset=half,
        producer_id=_PRODUCER_ID if ends_transaction else layout.NO_PRODUCER_ID,
        producer_epoch=0 if ends_transaction else layout.NO_PRODUCER_EPOCH,
        base_sequence=0 if ends_transaction else layout.NO_SEQUENCE,
        is_transactional=ends_transaction,
    )
    if ends_transaction:
        data += end_txn_marker(
            base_offset=len(rows), leader_epoch=0, timestamp_ms=0, producer_id=_PRODUCER_ID, producer_epoch=0,
            commit=True, coordinator_epoch=0,
        )  # fmt: skip
    return data


def _record_data(row: RecordParts) -> RecordData:
    key = None if row.key is None else bytes(row.key.data)
    return RecordData(key=key, value=None if row.value is None else bytes(row.value.data), timestamp=0)
