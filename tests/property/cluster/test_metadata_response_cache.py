"""Metadata responses from the cache equal those of a broker without a cache."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmirror.assembly.nodes import Assembly, feature_records
from kmirror.cluster.broker import metadata_response_cache
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import Delta
from kmirror.kernel.events import InboundLink, LinkOpened, Reply, RequestReceived
from kmirror.kernel.ids import ANONYMOUS, Endpoint, Principal
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kmirror.protocol.gen.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import AclOperation as Op
from kmirror.spec.wire_values import AclPermission
from tests.acls import ACL_CONFIGS, acl
from tests.client_links import link_opened

ASKED = 9
"""The broker that gets the requests; it has no replica, so it only responds."""
BROKERS = (1, 2, 3)
TOPICS = ("one", "two", "three")
CLIENT = link_opened("c")
OTHERS = (
    LinkOpened(InboundLink(("second",)), "SECOND", ANONYMOUS, CLIENT.address),
    LinkOpened(InboundLink(("alice",)), CLIENT.listener, Principal("User", "alice"), CLIENT.address),
)
"""A client at a listener that only some brokers have, and one of another principal."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["create", "remove", "change", "change", "fence", "unfence", "shut down", "nothing", "acl", "no acl"]
        ),
        st.integers(0, 2),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=20,
)


def topic_id(name: str, generation: int) -> Uuid:
    return Uuid.from_ints(generation, TOPICS.index(name) + 1)


class BrokerWithImage:
    """A broker with its own image."""

    def __init__(self, records: list[Message], *, has_acls: bool = False) -> None:
        listeners = {node: (ListenerSpec.plain(Endpoint(f"b-{node}", 9092)),) for node in (*BROKERS, ASKED, 100)}
        self.broker: Broker = Assembly("x", 100, listeners, ACL_CONFIGS if has_acls else {}, []).broker(
            ASKED, [MemoryDisk()], Rng(1)
        )
        self.tell(records)
        self.broker.parts.server.accept()
        for client in (CLIENT, *OTHERS):
            self.broker.handle(0, client)

    def tell(self, records: list[Message]) -> None:
        delta = Delta()
        for record in records:
            self.broker.context.image.apply(record, delta)
        self.broker.publish(0, delta)

    def answer(self, request: MetadataRequest, version: int, client: LinkOpened = CLIENT) -> bytes:
        frame = encode_request(request, version, correlation_id=3, client_id=None)
        [reply] = [e for e in self.broker.handle(0, RequestReceived(client.link, frame)) if isinstance(e, Reply)]
        return b"".join(reply.chunks)


class Cluster:
    """The records of a cluster whose controller decides at random."""

    def __init__(self) -> None:
        self.generations: dict[str, int] = {}
        self.created = 0

    def start(self) -> list[Message]:
        return feature_records(1) + [
            RegisterBrokerRecord(
                broker_id=node,
                broker_epoch=node,
                incarnation_id=Uuid.from_ints(2, node),
                end_points=[
                    BrokerEndpoint(name=name, host=f"b-{node}", port=port)
                    for name, port in (("PLAINTEXT", 9092), ("SECOND", 9094))[: 1 + (node > 1)]
                ],
                fenced=False,
            )
            for node in BROKERS
        ]

    def step(self, kind: str, which: int, number: int) -> list[Message]:
        name, node = TOPICS[which], BROKERS[number]
        here = self.generations.get(name)
        if kind == "create" and here is None:
            self.created += 1
            self.generations[name] = self.created
            known = topic_id(name, self.created)
            return [TopicRecord(name=name, topic_id=known)] + [
                PartitionRecord(
                    partition_id=index,
                    topic_id=known,
                    replicas=[node, *(b for b in BROKERS if b != node)],
                    isr=[node],
                    leader=node,
                    leader_epoch=0,
                    partition_epoch=0,
                )
                for index in range(number + 1)
            ]
        if kind == "remove" and here is not None:
            del self.generations[name]
            return [RemoveTopicRecord(topic_id=topic_id(name, here))]
        if kind == "change" and here is not None:
            known = topic_id(name, here)
            return [PartitionChangeRecord(partition_id=0, topic_id=known, isr=[node], leader=node if which else -2)]
        if kind == "acl":
            allowed = AclPermission.ALLOW if node == 1 else AclPermission.DENY
            return [acl(which, Op.DESCRIBE, name, allowed, principal="User:*" if node == 2 else "User:alice")]
        if kind == "no acl":
            return [RemoveAccessControlEntryRecord(id=acl(which, Op.DESCRIBE, name).id)]
        if kind in ("fence", "unfence"):
            fenced = 1 if kind == "fence" else -1
            return [BrokerRegistrationChangeRecord(broker_id=node, broker_epoch=node, fenced=fenced)]
        if kind == "shut down":
            return [BrokerRegistrationChangeRecord(broker_id=node, broker_epoch=node, in_controlled_shutdown=1)]
        return []


def questions(cluster: Cluster) -> list[tuple[MetadataRequest, int]]:
    names = [MetadataRequestTopic(name=name) for name in (*TOPICS, "none", "?")]
    by_id = [MetadataRequestTopic(topic_id=topic_id("one", cluster.generations.get("one", 77)), name=None)]
    return [
        *((MetadataRequest(topics=None), version) for version in (1, 9, 12, 13)),
        *((MetadataRequest(topics=names), version) for version in (0, 8, 12)),
        (MetadataRequest(topics=[]), 0),
        (MetadataRequest(topics=by_id), 12),
    ]


@settings(deadline=None)
@given(STEPS, st.booleans())
def test_cached_responses_equal_fresh_ones(steps: list[tuple[str, int, int]], has_acls: bool) -> None:
    cluster = Cluster()
    records = cluster.start()
    asked = BrokerWithImage(records, has_acls=has_acls)
    for step in steps:
        more = cluster.step(*step)
        records += more
        asked.tell(more)
        fresh = BrokerWithImage(records, has_acls=has_acls)
        for (request, version), client in product(questions(cluster), (CLIENT, *OTHERS)):
            told = asked.answer(request, version, client)
            assert told == asked.answer(request, version, client)
            # A broker without earlier requests: its cache is empty.
            fresh.broker.parts.metadata_responses.__init__()  # type: ignore[misc]
            assert told == fresh.answer(request, version, client)


def test_the_cache_has_a_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_response_cache, "BYTES_MAX", 2000)
    cluster = Cluster()
    asked = BrokerWithImage(cluster.start() + cluster.step("create", 0, 2))
    kept = asked.broker.parts.metadata_responses
    for number in range(100):
        names = [MetadataRequestTopic(name=f"{number}"), MetadataRequestTopic(name="one")]
        asked.answer(MetadataRequest(topics=names, allow_auto_topic_creation=False), 12)
        held = sum(len(question) + len(answer) for (*_, question), answer in kept._responses.items())
        assert held == kept._responses_bytes <= 2000
    assert len(kept._responses) > 3
    for version in range(14):
        asked.answer(MetadataRequest(topics=[MetadataRequestTopic(name="one")]), version)
        held = sum(len(part.data) for parts in kept._parts.values() for part in parts.values())
        assert held == kept._parts_bytes <= 2000
