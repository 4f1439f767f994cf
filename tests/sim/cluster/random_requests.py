"""Common parts of the tests of all requests: clusters with every kind of log, random messages, raw responses.

The logs are plain, of ended and open transactions, of the legacy formats, and mirrored; the source of one mirror is
reachable, that of another is not. Half of the messages are well-meant: they name existing resources. The others have
any content.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.events import Effect, Event, LinkClosed, OutboundLink, ResponseReceived, Send
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import MirrorState
from kmirror.protocol.careful import RANGES, is_within
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.response_header import ResponseHeader
from kmirror.protocol.headers import encode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key
from kmirror.protocol.structs import Field, fresh_default
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.configs import KEYS
from kmirror.spec.topics import GROUP_TOPIC, METADATA_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC
from tests.builders import marker
from tests.sim.stage import T0_MS, WrittenLogs, legacy, plain, transactional

ANSWER_WITHIN_SECONDS = 40
CONFIGS = {
    "mirror.topic.num.partitions": "2",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
}
TRANSACTIONAL = [
    transactional(0, 0, 1, "committed"),
    marker(offset=1, epoch=0, pid=1, commit=True),
    transactional(2, 0, 2, "aborted"),
    marker(offset=3, epoch=0, pid=2, commit=False),
    plain(4, 1, "plain"),
    transactional(5, 2, 3, "open"),
    plain(6, 2, "behind", "it"),
]
LOGS = {
    "plain": [plain(0, 0, "a", "b"), plain(2, 1, "c"), plain(3, 3, "d")],
    "transactional": TRANSACTIONAL,
    "v0": [legacy(0, 0, "a"), legacy(1, 0, "b", "c", codec=Compression.GZIP)],
    "v1": [legacy(0, 1, "a", "b"), legacy(2, 1, "c", codec=Compression.GZIP), plain(3, 0, "d")],
}
MIRRORED = {
    "mirrored": TRANSACTIONAL,
    "mirrored-v1": [legacy(0, 1, "a", "b"), plain(2, 5, "c")],
    "mirrored-plain": [plain(0, 0, "a", "b"), plain(2, 7, "c")],
}
REMOVED = "mirrored-plain"
TRANSACTIONAL_IDS = ("tx", "ty")
# fmt: off
TEXTS = (
    "t", "t", "m", "m", "", "t2", "1", "mirror.name", "bootstrap.servers", "host:9092", "host:\u00b2",
    "max.message.bytes", "14", "x.removed", "\u00e9 \U0001f600", "a" * 300, "plain", "mirrored", "live",
    "retention.ms", "request.timeout.ms", "mirror.acl.include", "a;b;c", "(", "min.insync.replicas",
    MIRROR_STATE_TOPIC, TRANSACTION_TOPIC, METADATA_TOPIC,
)
# fmt: on
INTEGERS = (0, 0, 0, 1, 1, 2, 3, -1, -2, 4, 5, 16, 64, 100, 1000)
WELL_MEANT: dict[str, tuple[Any, ...]] = {
    "partition": (0,),
    "partition_index": (0,),
    "partitions": (0,),
    "partition_indexes": (0,),
    "index": (0,),
    "timestamp": (-1, -2, -3, -4, -5, -6, 0, T0_MS, T0_MS + 1, T0_MS + 5, T0_MS + 100),
    "fetch_offset": (0, 0, 1, 2, 3, 5),
    "current_leader_epoch": (-1, -1, -1, 0, 1, 3, 4),
    "replica_id": (-1, -1, 1, 2),
    "last_fetched_epoch": (-1, -1, 0, 1, 2),
    "leader_epoch": (0, 1, 2, 3, 5),
    "isolation_level": (0, 1),
    "partition_max_bytes": (1, 1000, 1 << 20),
    "max_bytes": (1, 1000, 1 << 20),
    "min_bytes": (0, 1, 100),
    "session_id": (0,),
    "session_epoch": (0, -1),
    "acks": (-1, 0, 1),
    "key_type": (0, 1, 2, 3),
    "producer_epoch": (0, 0, 1),
    "coordinator_epoch": (0,),
    "resource_type": (2, 4, 64),
    "config_operation": (0, 1, 2, 3),
    "transaction_timeout_ms": (1000, 60_000),
    "session_timeout_ms": (6000, 10_000),
    "rebalance_timeout_ms": (1000,),
    "protocol_type": ("consumer",),
    "member_id": ("",),
    "group_instance_id": ("i", "j", None),
    "groups": ("g", "h"),
    "groups_names": ("g", "h"),
    "num_partitions": (-1, 1, 2),
    "replication_factor": (-1, 1, 3),
    "state": (0, 1, 2, 3, 4, 5, 6),
    "key": ("tx", "m"),
    "coordinator_keys": ("tx", "m"),
    "name": tuple(dict.fromkeys(row.name for row in KEYS if not row.no_effect)),
    "value": ("1", "2", "100000", "true", "delete", "a:1", "*", "("),
    "resource_name": ("plain", "live", "1", ""),
}

LEFT_OUT = ("forgotten_topics_data", "assignments")
"""Fields that a well-meant message omits."""


class Generator:
    """Random messages; with `well_meant` most fields name existing resources of the cluster."""

    def __init__(self, rng: Rng, cluster: Cluster, *, well_meant: bool = False) -> None:
        self._rng = rng
        self._ids = [METADATA_TOPIC_ID, *(topic.topic_id for topic in cluster.image.topics.values())]
        self._well_meant = well_meant
        self._entities: dict[str, tuple[Any, ...]] = {
            "topicName": tuple(cluster.topics()),
            "mirrorName": ("m", "live"),
            "brokerId": cluster.broker_ids,
            "transactionalId": TRANSACTIONAL_IDS,
            "groupId": ("g", "h"),
            "producerId": producer_ids(cluster),
        }
        self._known: dict[str, tuple[Any, ...]] = {
            **WELL_MEANT,
            "cluster_id": (cluster.cluster_id,),
            "broker_epoch": tuple(broker.epoch for broker in cluster.image.brokers.values()),
        }

    def message(self, cls: type[Message], version: int) -> Message:
        """Return an instance of `cls` that `version` can carry."""
        made: Any = cls
        return made(**{row.attribute: self._field(row, version) for row in cls.FIELDS})  # type: ignore[no-any-return]

    def _field(self, row: Field, version: int) -> Any:
        if not is_within(version, row.versions) or (not self._well_meant and self._rng.chance(1, 8)):
            return fresh_default(row)
        if is_within(version, row.nullable) and self._rng.chance(1, 8):
            return None
        if row.is_array:
            if self._well_meant and row.attribute in LEFT_OUT:
                return []
            return [self._one(row, version) for _ in range(self._rng.choice((0, 1, 1, 1, 2, 3)))]
        return self._one(row, version)

    def _meant(self, row: Field) -> tuple[Any, ...] | None:
        if not self._well_meant or row.type in ("uuid", "struct"):
            return None
        return self._entities.get(row.entity) or self._known.get(row.attribute)

    def _one(self, row: Field, version: int) -> Any:
        rng = self._rng
        meant = self._meant(row)
        if meant:
            return rng.choice(meant)
        if row.type == "struct":
            return row.struct(**{f.attribute: self._field(f, version) for f in row.struct.FIELDS})
        if row.type in RANGES:
            low, high = RANGES[row.type]
            if row.attribute.endswith("_ms"):  # A request with a timeout of a month may wait for a month.
                return rng.choice((-1, 0, 1, 100))
            return rng.choice((low, high)) if rng.chance(1, 8) else min(max(low, rng.choice(INTEGERS)), high)
        choices: dict[str, Callable[[], Any]] = {
            "bool": lambda: rng.chance(1, 2),
            "float64": lambda: 0.5,
            "uuid": lambda: rng.choice([*self._ids, Uuid.ZERO, Uuid(rng.octets(16))]),
            "string": lambda: rng.choice(TEXTS),
            "bytes": lambda: rng.octets(rng.below(40)),
            "records": self._records,
        }
        return choices[row.type]()

    def _records(self) -> bytes:
        producer_id = self._rng.choice((-1, -1, 0, 5))
        batch = build_batch(
            [RecordData(key=b"k", value=b"v")], producer_id=producer_id, producer_epoch=0, base_sequence=0
        )
        return self._rng.choice((batch, batch, b"", self._rng.octets(70), batch[:-3], batch + batch))


class RawClient:
    """A process that sends frames and keeps the raw responses."""

    NAME = "raw"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.simulation.world
        self._box: list[bytes | None] = []
        self.channel = 0
        """Links that were closed by the other side."""
        self._world.add(self.NAME, cluster.name, lambda: self)
        self._world.start(self.NAME)

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        match event:
            case ResponseReceived(_, frame):
                self._box.append(frame)
            case LinkClosed():
                self._box.append(None)
                self.channel += 1
            case _:
                pass
        return []

    def ask(self, endpoint: Endpoint, body: Message, version: int, *, wants_answer: bool = True) -> Message | None:
        """Return the response, decoded in `version` to its last byte; None if the link was closed instead."""
        key = body.API_KEY
        assert key is not None, f"{body.NAME} is no request"
        frame = self.send(endpoint, encode_request(body, version, correlation_id=7, client_id="raw"), wants_answer)
        return None if frame is None else read_back(frame, key, version)

    def send(self, endpoint: Endpoint, frame: bytes, wants_answer: bool = True) -> bytes | None:
        """Send a frame and run until it is answered (returns the frame) or the link is closed (None)."""
        self._box.clear()
        self._world.perform(self.NAME, [Send(OutboundLink(endpoint, f"raw {self.channel}"), (frame,))])
        if not wants_answer:
            self._cluster.simulation.run_for(span_s=0.01)
            return None
        within_us = ANSWER_WITHIN_SECONDS * SECOND
        self._world.run_until(lambda: bool(self._box), within_us=within_us, what=f"an answer to {frame.hex()}")
        return self._box[0]


def read_back(frame: bytes, api_key: int, version: int) -> Message:
    """Decode a response like a client that supports only `version`: nothing missing, nothing after it."""
    api = by_key(api_key)
    header, position = ResponseHeader.decode_prefix(frame, api.response_header_version(version))
    body, end = api.response.decode_prefix(frame, version, position)
    assert end == len(frame), f"{len(frame) - end} bytes behind {body!r}"
    again = encode_response(body, version, correlation_id=header.correlation_id)
    assert again == frame, f"read back as something else: {body!r}"
    return body


def start(seed: int) -> Cluster:
    """Return a running cluster with all kinds of logs, two mirrors and every internal topic."""
    simulation = Simulation(seed)
    source = Cluster(simulation, "source", brokers=1, replication_factor=1, logs=WrittenLogs(MIRRORED))
    cluster = Cluster(simulation, "a", configs=CONFIGS, logs=WrittenLogs(LOGS, first_id=50))
    source.start()
    cluster.start()
    request = CreateMirrorRequest(
        mirror_name="m", config=[MirrorConfig(name="bootstrap.servers", value="nowhere:9092")]
    )
    cluster.client.call(cluster.endpoint(1), request, 0)
    for name in ("t", "u", TRANSACTION_TOPIC, GROUP_TOPIC):
        topic = CreatableTopic(name=name, num_partitions=2, replication_factor=3)
        cluster.client.call(cluster.endpoint(1), CreateTopicsRequest(topics=[topic]), 7)
    live = Mirror("live", source=source, destination=cluster)
    live.create()
    live.add_topics(MIRRORED)
    live.wait_for_state(MirrorState.MIRRORING, [TopicPartition(topic, 0) for topic in MIRRORED])
    live.remove_topics([REMOVED])
    live.wait_for_state(MirrorState.STOPPED, [TopicPartition(REMOVED, 0)])
    simulation.run_until(cluster.is_settled, what="everything to settle")
    begin_transactions(cluster)
    return cluster


def begin_transactions(cluster: Cluster) -> None:
    """Give both transactional ids a producer; the first has an open transaction without records."""
    for name in TRANSACTIONAL_IDS:
        producer = Producer(cluster, transactional_id=name)
        if name == TRANSACTIONAL_IDS[0]:
            producer.begin_transaction()
            producer.add_partitions([TopicPartition("plain", 0)])


def producer_ids(cluster: Cluster) -> tuple[int, ...]:
    """Return the producer ids in the logs and those of the transactional ids."""
    found: dict[int, None] = dict.fromkeys((1, 2, 3))
    for broker_id in cluster.living():
        coordinator = cluster.broker(broker_id).parts.components.get(TransactionCoordinator)
        found.update({t.producer_id: None for n in TRANSACTIONAL_IDS if (t := coordinator.find(n)) is not None})
    return tuple(found)
