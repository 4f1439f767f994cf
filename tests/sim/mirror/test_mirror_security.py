"""A mirror's secrets are sent to its source and shown nowhere; errors of the source are reported (D3, D38)."""

from __future__ import annotations

import pytest

from kmirror.assembly.mirrors import DESCRIBED, NOT_REPORTED, Description
from kmirror.cluster.images import NO_LEADER
from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.facts import SourceTrouble
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from tests.sim.stage import TOPIC, Pair, WrittenLogs, assert_equal, pair, plain

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SECURED = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{PLAIN} required username="u" password="hush";',
    "ssl.truststore.type": "PEM",
    "ssl.truststore.certificates": "hush",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.key": "hush",
    "ssl.keystore.certificate.chain": "hush",
    "ssl.key.password": "hush",
}


def start_mirror() -> Pair:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    return p


def describe(p: Pair) -> DescribeMirrorsResponse:
    leader = p.b.image.topics[TOPIC].partitions[0].leader
    reply = p.b.client.call(p.b.endpoint(leader), DescribeMirrorsRequest(mirror_names=["m"]), 0)
    assert isinstance(reply, DescribeMirrorsResponse)
    return reply


@pytest.mark.kip("1279", "Mirror Configuration")
@pytest.mark.decision("D38")
def test_a_source_without_sasl_is_reported_without_secrets() -> None:
    p = start_mirror()
    lines: list[str] = []
    p.simulation.world.trace.listeners.append(lambda now, who, what: lines.append(what))
    p.there.alter(SECURED)
    p.run_until(lambda: "does not serve SaslAuthenticate" in p.b.reason(), "the reason")
    assert p.b.reason().startswith("no response from the source at ")
    source_errors = [seen.fact for seen in p.simulation.facts(SourceTrouble)]
    assert source_errors and "does not serve SaslAuthenticate" in source_errors[0].reason
    reply = describe(p)
    assert "does not serve SaslAuthenticate" in reply.mirrors[0].reason
    everything = [*lines, repr(source_errors), repr(reply), *map(repr, p.b.component(1).context.sources.values())]
    assert not [line for line in everything if "hush" in line]
    p.there.alter({"security.protocol": "PLAINTEXT"})
    p.a.write("after")
    p.simulation.run_for(span_s=5)
    assert_equal(p.there)
    assert p.b.reason() == "" and not describe(p).mirrors[0].reason


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sasl.mechanism": "GSSAPI"}, "sasl.mechanism GSSAPI is not supported"),
        ({"sasl.jaas.config": "hush required;"}, "login module"),
        ({"sasl.jaas.config": f"{PLAIN} required username=u password=hush"}, "semi-colon"),
        ({"ssl.keystore.certificate.chain": None}, "ssl.keystore.certificate.chain is not set"),
        ({"ssl.truststore.password": "hush"}, "ssl.truststore.password is for a file of type PKCS12"),
    ],
)
def test_incompatible_configs_are_refused_at_creation_and_later(changes: dict[str, str | None], words: str) -> None:
    p = pair()
    values = {key: value for key, value in {**SECURED, **changes}.items() if value is not None}
    with pytest.raises(KafkaError, match=words) as caught:
        p.there.create(values)
    assert "INVALID_CONFIG" in str(caught.value) and "=hush" not in str(caught.value)
    p.there.create(SECURED)
    with pytest.raises(KafkaError, match=words) as caught:
        p.there.alter(changes)
    assert "INVALID_CONFIG" in str(caught.value) and "=hush" not in str(caught.value)


def description_of(mirror: Mirror) -> Description:
    return mirror._run(DESCRIBED, lambda scripts: scripts._described())


@pytest.mark.decision("D38")
def test_a_partition_whose_leader_does_not_respond_has_a_row_without_lag() -> None:
    """Until its session ends the dead broker is the leader, and the others have no data of the partition."""
    simulation = Simulation(3)
    with Cluster(simulation, "a", brokers=1) as a, Cluster(simulation, "b", brokers=2, replication_factor=1) as b:
        a.create_topic(TOPIC, 4)
        mirror = Mirror("m", source=a, destination=b)
        mirror.create()
        mirror.add_topics([TOPIC])
        mirror.catch_up()
        led = [tp for tp in mirror.partitions() if (leader := b.leader(tp)) is not None and leader.broker_id == 1]
        assert 0 < len(led) < 4
        b.kill(1)
        rows = {row.tp: row for row in mirror.describe()}
        assert list(rows) == mirror.partitions()
        assert [tp for tp, row in rows.items() if (row.lag, row.reason) == (-1, NOT_REPORTED)] == led
        assert [tp for tp, row in rows.items() if row.lag == 0] == [tp for tp in rows if tp not in led]


@pytest.mark.decision("D38")
def test_a_topic_without_a_leader_is_described_by_the_remaining_brokers() -> None:
    simulation = Simulation(3)
    with Cluster(simulation, "a", brokers=1) as a, Cluster(simulation, "b", brokers=2, replication_factor=1) as b:
        a.create_topic(TOPIC, 1)
        mirror = Mirror("m", source=a, destination=b)
        mirror.create()
        mirror.add_topics([TOPIC, "nowhere"])
        mirror.wait_for_state(MirrorState.MIRRORING, [TopicPartition(TOPIC, 0)])
        leader = b.leader(TopicPartition(TOPIC, 0))
        assert leader is not None and description_of(mirror).undescribed_topics == ["nowhere"]
        b.kill(leader.broker_id)
        simulation.run_until(lambda: b.image.topics[TOPIC].partitions[0].leader == NO_LEADER)
        (row,) = mirror.describe()
        assert (row.tp.topic, row.state, row.lag, row.reason) == (TOPIC, MirrorState.UNKNOWN, -1, NOT_REPORTED)
        assert description_of(mirror).topics == sorted([TOPIC, "nowhere"]) == mirror.topics()
