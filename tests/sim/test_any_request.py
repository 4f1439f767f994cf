"""Whatever a well-formed request says, a node answers it or closes the link; whatever a frame holds, it lives on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmirror.kernel.clock import SECOND
from kmirror.kernel.events import RequestReceived
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.rng import Rng
from kmirror.protocol.careful import RANGES, within
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Field, Message, fresh_default
from kmirror.protocol.registry import by_key
from kmirror.protocol.uuid import Uuid
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import CONTROLLER_ID, Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.apis import ROWS, Served
from kmirror.spec.topics import METADATA_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC

MESSAGES_PER_VERSION = 20
ANSWER_WITHIN_SECONDS = 40
CONFIGS = {"mirror.topic.num.partitions": "2", "transaction.state.log.num.partitions": "2"}
TEXTS = (
    "t", "t", "m", "m", "", "t2", "1", "mirror.name", "bootstrap.servers", "host:9092", "host:\u00b2",
    "max.message.bytes", "14", "x.removed", "\u00e9 \U0001f600", "a" * 300,
    MIRROR_STATE_TOPIC, TRANSACTION_TOPIC, METADATA_TOPIC,
)
INTEGERS = (0, 0, 0, 1, 1, 2, 3, -1, -2, 4, 5, 16, 64, 100, 1000)


class Generator:
    """Random messages whose values often mean something to the cluster they are sent to."""

    def __init__(self, rng: Rng, ids: list[Uuid]) -> None:
        self._rng = rng
        self._ids = ids

    def message(self, cls: type[Message], version: int) -> Message:
        """Return an instance of `cls` that `version` can carry."""
        made: Any = cls
        return made(**{row.attribute: self._field(row, version) for row in cls.FIELDS})  # type: ignore[no-any-return]

    def _field(self, row: Field, version: int) -> Any:
        if not within(version, row.versions) or self._rng.chance(1, 8):
            return fresh_default(row)
        if within(version, row.nullable) and self._rng.chance(1, 8):
            return None
        if row.is_array:
            return [self._one(row, version) for _ in range(self._rng.choice((0, 1, 1, 1, 2, 3)))]
        return self._one(row, version)

    def _one(self, row: Field, version: int) -> Any:
        rng = self._rng
        if row.type == "struct":
            return row.struct(**{f.attribute: self._field(f, version) for f in row.struct.FIELDS})
        if row.type in RANGES:
            low, high = RANGES[row.type]
            if row.attribute.endswith("_ms"):  # Whoever asks to wait for a month may wait for a month.
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
        batch = build_batch([RecordData(key=b"k", value=b"v")], producer_id=self._rng.choice((-1, -1, 0, 5)),
                            producer_epoch=0, base_sequence=0)
        return self._rng.choice((batch, batch, b"", self._rng.octets(70), batch[:-3], batch + batch))


def start(seed: int) -> Cluster:
    """Return a running cluster with two topics, a mirror whose source is not there, and both internal topics."""
    simulation = Simulation(seed)
    cluster = Cluster(simulation, "a", configs=CONFIGS)
    cluster.start()
    request = CreateMirrorRequest(
        mirror_name="m", config=[MirrorConfig(name="bootstrap.servers", value="nowhere:9092")]
    )
    cluster.client.call(cluster.endpoint(1), request, 0)
    for name in ("t", "u"):
        create(cluster, name)
    create(cluster, TRANSACTION_TOPIC)
    simulation.run_for(2)
    return cluster


def create(cluster: Cluster, name: str) -> None:
    topic = CreatableTopic(name=name, num_partitions=2, replication_factor=3)
    cluster.client.call(cluster.endpoint(1), CreateTopicsRequest(topics=[topic]), 7)


def ask(cluster: Cluster, endpoint: Endpoint, body: Message, version: int) -> None:
    """Send `body` and run until it is answered or the link is closed."""
    box: list[Message | None] = []
    cluster.client.send(endpoint, body, version, box.append, timeout_ms=ANSWER_WITHIN_SECONDS * 1000 * 2)
    wants_answer = not (isinstance(body, ProduceRequest) and body.acks == 0)
    if wants_answer:
        cluster.simulation.world.run_until(
            lambda: bool(box), within=ANSWER_WITHIN_SECONDS * SECOND, what=f"an answer to {body!r} in version {version}"
        )
    else:
        cluster.simulation.run_for(0.01)


def named(row: Served) -> str:
    return row.name


@pytest.mark.parametrize(
    ("row", "role"), [pytest.param(row, role, id=f"{row.name}-{role}") for row in ROWS for role in row.roles]
)
def test_any_well_formed_request_is_answered_or_its_link_closed(row: Served, role: str) -> None:
    cluster = start(row.key)
    rng = Rng(row.key).split(role)
    generator = Generator(rng, [topic.topic_id for topic in cluster.image.topics.values()])
    endpoint = cluster.endpoint(CONTROLLER_ID if role == "controller" else 1)
    for version in range(row.first, row.last + 1):
        for _ in range(MESSAGES_PER_VERSION):
            ask(cluster, endpoint, generator.message(by_key(row.key).request, version), version)
    cluster.simulation.run_for(15)  # What was decided reaches every broker, and timers fire.


@pytest.mark.parametrize("row", [row for row in ROWS if "controller" in row.roles], ids=named)
def test_any_request_inside_an_envelope_is_answered(row: Served) -> None:
    cluster = start(row.key)
    generator = Generator(Rng(row.key).split("envelope"), [t.topic_id for t in cluster.image.topics.values()])
    for version in range(row.first, row.last + 1):
        inner = encode_request(
            generator.message(by_key(row.key).request, version), version, correlation_id=7, client_id="c"
        )
        body = EnvelopeRequest(request_data=inner, request_principal=b"", client_host_address=b"\x7f\x00\x00\x01")
        ask(cluster, cluster.endpoint(CONTROLLER_ID), body, 0)
    cluster.simulation.run_for(15)


@pytest.mark.parametrize("node_id", [1, CONTROLLER_ID])
def test_any_frame_is_answered_or_its_link_closed(node_id: int) -> None:
    cluster = start(3)
    world = cluster.simulation.world
    rng = Rng(node_id)
    generator = Generator(rng, [topic.topic_id for topic in cluster.image.topics.values()])
    node = cluster.controller if node_id == CONTROLLER_ID else cluster.broker(node_id)
    for number in range(1500):
        row = rng.choice(ROWS)
        version = rng.between(row.first, row.last)
        body = generator.message(by_key(row.key).request, version)
        frame = bytearray(encode_request(body, version, correlation_id=number, client_id="c"))
        for _ in range(rng.between(1, 3)):
            frame[rng.below(len(frame))] = rng.below(256)
        cut = frame[: rng.below(len(frame) + 1)] if rng.chance(1, 3) else frame
        effects = node.handle(world.now, RequestReceived(("stranger", "raw", number), bytes(cut)))
        world.perform(cluster.process(node_id), effects)
    cluster.simulation.run_for(15)
