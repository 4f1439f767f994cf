"""A mirror over TCP: the same methods as in the simulator, from the first topic to the failback, sync and asyncio."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator

import pytest

from kmirror.admin.client import AsyncAdmin, checked_servers
from kmirror.admin.described_configs import configs_of
from kmirror.admin.leader_reader import LeaderReader
from kmirror.admin.mirror import AsyncMirror, TcpMirror, describe_mirrors
from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.client.security import security_of
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.facts import SourceTrouble
from kmirror.mirror.states import MirrorState
from kmirror.net.cluster import TcpCluster
from kmirror.net.listener import Port
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.message import Message
from kmirror.sim.mirror import Mirror
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec, ResourceType

TP = TopicPartition("orders", 0)
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SASL = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{PLAIN} required username="u" password="hush";',
}


def public_methods(kind: type) -> dict[str, tuple[inspect.Signature, str]]:
    """Return the signature of each public method, and the first line of its docstring."""
    methods = inspect.getmembers(kind, callable)
    return {
        name: (inspect.signature(call), (inspect.getdoc(call) or "").partition("\n")[0])
        for name, call in methods
        if not name.startswith(("_", "begin_"))
    }


def test_mirrors_of_all_runners_have_the_same_words() -> None:
    simulated, served, on_asyncio = public_methods(Mirror), public_methods(TcpMirror), public_methods(AsyncMirror)
    lists = [every.pop("list") for every in (simulated, served, on_asyncio)]
    assert simulated == served == on_asyncio
    assert len({line for _, line in lists}) == 1 and all(line for _, line in simulated.values())
    assert [list(signature.parameters) for signature, _ in lists] == [
        ["cluster"],
        ["cluster", "configs", "security"],
        ["cluster"],
    ]


@pytest.fixture
def pair() -> Iterator[tuple[TcpCluster, TcpCluster]]:
    with (
        TcpCluster(name="a", brokers=1, topics={"orders": 1, "payments": 1}) as a,
        TcpCluster(name="b", brokers=1) as b,
    ):
        yield a, b


def test_the_cleanup_policy_of_topics_is_read_for_comparisons(pair: tuple[TcpCluster, TcpCluster]) -> None:
    async def policies(cluster: TcpCluster) -> list[str | None]:
        async with AsyncAdmin(cluster.bootstrap_servers) as admin:
            found = [await configs_of(admin, ResourceType.TOPIC, name, None) for name in ("keyed", "orders")]
            with pytest.raises(KafkaError, match="cannot describe the configs of topic missing"):
                await configs_of(admin, ResourceType.TOPIC, "missing", None)
            return [row.get("cleanup.policy") for row in found]

    pair[0].create_topic("keyed", configs={"cleanup.policy": "compact"})
    assert asyncio.run(policies(pair[0])) == ["compact", None]


def test_from_the_first_topic_to_the_failback(pair: tuple[TcpCluster, TcpCluster]) -> None:
    a, b = pair
    a.produce("orders", 0, [b"one", b"two"])
    there = TcpMirror("dr", source=a, destination=b)
    there.create()
    assert TcpMirror.list(b)[0].topic_count == 0
    there.add_topics(["orders"])
    there.catch_up()
    there.assert_equal()
    row = there.describe()[0]
    assert (row.tp, row.state, row.destination_offset, row.lag) == (TP, MirrorState.MIRRORING, 2, 0)
    there.pause(["orders"])
    there.wait_for_state(MirrorState.PAUSED, [TP])
    a.produce("orders", 0, [b"three"])
    difference = there.difference()
    assert difference is not None
    assert (difference.field, difference.expected, difference.found) == ("log end offset", 3, 2)
    there.resume(["orders"])
    there.catch_up()
    there.alter({"request.timeout.ms": "5000"})
    assert [row.state for row in there.fail_over()] == [MirrorState.STOPPED]
    b.produce("orders", 0, [b"four"])
    back = TcpMirror("dr", source=b, destination=a)
    back.create()
    back.add_topics(["orders"])
    back.catch_up()
    back.assert_equal()
    there.delete()
    assert TcpMirror.list(b) == []
    assert (TcpMirror.list(a)[0].name, TcpMirror.list(a)[0].source_servers) == ("dr", b.bootstrap_servers)


def test_a_refusal_names_topic_mirror_and_error(pair: tuple[TcpCluster, TcpCluster]) -> None:
    a, b = pair
    mirror = TcpMirror("dr", source=a, destination=b)
    for call in (lambda: mirror.add_topics(["orders"]), mirror.describe, mirror.delete):
        with pytest.raises(KafkaError) as unknown:
            call()
        assert unknown.value.code is ErrorCode.UNKNOWN_MIRROR
    mirror.create()
    with pytest.raises(KafkaError, match=r"cannot pause topic orders of mirror dr: UNKNOWN_TOPIC_OR_PARTITION: "):
        mirror.pause(["orders"])
    with pytest.raises(UsageError, match=r"mirror dr of .* has no topics: call add_topics\(\) first"):
        mirror.catch_up()


@pytest.mark.decision("D38")
def test_a_new_mirror_is_described_although_the_broker_lags_behind() -> None:
    with TcpCluster(name="b", brokers=1, mirror_version=1) as b:
        mirror = TcpMirror("dr", source="localhost:9", destination=b)
        b.kill(CONTROLLER_ID)
        b.restart(CONTROLLER_ID)
        mirror.create()
        assert mirror.describe() == []


def test_a_timeout_names_the_partitions_it_waits_for(pair: tuple[TcpCluster, TcpCluster]) -> None:
    a, b = pair
    mirror = TcpMirror("dr", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["orders"])
    mirror.catch_up()
    with pytest.raises(KafkaError, match=r"waiting for orders-0 \(MIRRORING, lag 0\)") as late:
        mirror.wait_for_state(MirrorState.STOPPED, [TP], within_s=0)
    assert late.value.code is ErrorCode.REQUEST_TIMED_OUT


def test_a_cluster_without_mirroring_is_an_error_that_names_the_feature() -> None:
    with TcpCluster(brokers=1, mirror_version=0) as plain:
        for call in (
            lambda: TcpMirror.list(plain),
            TcpMirror("dr", destination=plain).describe,
            lambda: TcpMirror("dr", destination=plain).create({"bootstrap.servers": "localhost:9"}),
        ):
            with pytest.raises(KafkaError, match=r"does not support the request .*feature mirror.version=1") as refused:
                call()
            assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_a_cluster_without_a_running_broker_is_reported_with_the_reason() -> None:
    port = Port("127.0.0.1", 0)
    port.close()
    text = rf"cannot connect to localhost:{port.endpoint.port}: connection refused"
    with pytest.raises(KafkaError, match=text) as found:
        TcpMirror.list(f":{port.endpoint.port}")
    assert found.value.code is ErrorCode.NETWORK_EXCEPTION


def test_servers_are_checked() -> None:
    assert checked_servers(" :9094, b:1 ,") == "localhost:9094,b:1"
    for wrong in ("localhost", "a:0", "a:99999", "a:1,b"):
        with pytest.raises(UsageError, match="is not a server: give host:port"):
            checked_servers(wrong)
    with pytest.raises(UsageError, match="no server given"):
        checked_servers(" , ")
    with pytest.raises(UsageError, match=r"configs need bootstrap\.servers"):
        TcpMirror("dr", destination="localhost:1").create()


def test_a_script_does_not_block_a_loop() -> None:
    async def within() -> None:
        TcpMirror.list("localhost:1")

    with pytest.raises(UsageError, match="use AsyncMirror"):
        asyncio.run(within())


def test_a_topic_missing_at_the_source_is_reported(pair: tuple[TcpCluster, TcpCluster]) -> None:
    a, b = pair
    mirror = TcpMirror("dr", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["orders"])
    mirror.catch_up()
    mirror.add_topics(["nowhere"])
    for call in (lambda: mirror.catch_up(within_s=0), mirror.difference):
        with pytest.raises(
            KafkaError,
            match=r"1 of the 2 topics of mirror dr are not at the destination yet: does the source have "
            r"\['nowhere'\]\? Those that are: \['orders'\]",
        ):
            call()
    assert mirror.topics() == ["nowhere", "orders"]
    assert mirror.partitions() == [TP] == [row.tp for row in mirror.describe()]


@pytest.mark.decision("D38")
def test_a_topic_that_was_never_created_is_removed_with_the_others(pair: tuple[TcpCluster, TcpCluster]) -> None:
    a, b = pair
    mirror = TcpMirror("dr", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["orders"])
    mirror.catch_up()
    mirror.add_topics(["nowhere"])
    assert [(row.tp, row.state) for row in mirror.fail_over()] == [(TP, MirrorState.STOPPED)]
    assert mirror.topics() == ["orders"]
    assert TcpMirror.list(b)[0].topic_count == 1
    mirror.delete()
    mirror.create()
    mirror.add_topics(["nowhere"])
    assert mirror.fail_over() == [] == mirror.topics()
    mirror.delete()


def test_why_the_source_cannot_be_spoken_to_is_the_reason(pair: tuple[TcpCluster, TcpCluster]) -> None:
    a, b = pair
    mirror = TcpMirror("dr", source=a, destination=b)
    seen: list[object] = []
    b.on_note.append(lambda _, note: seen.append(note.fact))
    mirror.create(SASL)
    mirror.add_topics(["orders"])
    b.until(lambda: any(isinstance(fact, SourceTrouble) for fact in seen))
    reason = mirror.reason()
    assert "not serve SaslAuthenticate" in reason and reason.endswith("does not support SASL (broker 1)")
    with pytest.raises(KafkaError, match=r"not at the destination yet: the broker does not serve SaslAuthenticate"):
        mirror.catch_up(within_s=0)
    mirror.alter({"security.protocol": "PLAINTEXT"})
    mirror.catch_up()
    assert mirror.reason() == ""


def test_connections_are_secured_as_configured(pair: tuple[TcpCluster, TcpCluster]) -> None:
    """kmirror's brokers do not support SASL: the failing calls show which cluster it was used for."""
    a, b = pair
    security = security_of(SASL)
    TcpMirror("dr", source=a, destination=b).create()
    asks_the_source = TcpMirror("dr", source=a, destination=b, source_security=security)
    assert asks_the_source.describe() == []
    for call in (
        lambda: asks_the_source.add_topics(["orders"]),
        TcpMirror("dr", source=a, destination=b, destination_security=security).describe,
        lambda: TcpMirror.list(b, security=security),
    ):
        with pytest.raises(KafkaError, match=r"no secured connection to .* does not serve SaslAuthenticate") as refused:
            call()
        assert refused.value.code is ErrorCode.SASL_AUTHENTICATION_FAILED
        assert "hush" not in str(refused.value)


def test_several_mirrors_on_one_loop(pair: tuple[TcpCluster, TcpCluster]) -> None:
    a, b = pair
    a.produce("orders", 0, [b"one"])

    async def both() -> dict[str, list[TopicPartition]]:
        async with AsyncAdmin(a.bootstrap_servers) as source, AsyncAdmin(b.bootstrap_servers) as destination:
            names = {"x": "orders", "y": "payments"}
            mirrors = {name: AsyncMirror(name, source=source, destination=destination) for name in names}
            await asyncio.gather(*(mirror.create() for mirror in mirrors.values()))
            await asyncio.gather(*(mirrors[name].add_topics([topic]) for name, topic in names.items()))
            await asyncio.gather(*(mirror.catch_up() for mirror in mirrors.values()))
            found = await describe_mirrors(destination)
            return {name: [row.tp for row in mirror.rows] for name, mirror in found.items()}

    assert asyncio.run(both()) == {"x": [TP], "y": [TopicPartition("payments", 0)]}


def test_a_wait_asks_each_leader_once_for_all_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    partition_counts: list[int] = []
    ask = AsyncAdmin.ask

    async def ask_counted(admin: AsyncAdmin, body: Message, *, broker_id: int | None = None) -> Message:
        if isinstance(body, ListOffsetsRequest):
            partition_counts.append(sum(len(topic.partitions) for topic in body.topics))
        return await ask(admin, body, broker_id=broker_id)

    with TcpCluster(name="a", brokers=1, topics={"orders": 20}) as a, TcpCluster(name="b", brokers=1) as b:
        mirror = TcpMirror("dr", source=a, destination=b)
        mirror.create()
        mirror.add_topics(["orders"])
        mirror.catch_up()
        monkeypatch.setattr(AsyncAdmin, "ask", ask_counted)
        mirror.catch_up()
    assert partition_counts == [20, 20], "the source, then the destination"


def test_the_leader_epochs_of_a_log_are_returned() -> None:
    with TcpCluster(brokers=2, replication_factor=2, topics={"orders": 1}) as cluster:
        cluster.produce("orders", 0, [b"one", b"two"])
        leader = cluster.leader(TP)
        assert leader is not None
        cluster.stop(leader.broker_id)
        cluster.produce("orders", 0, [b"three"])
        led = cluster.leader(TP)
        assert led is not None
        expected = cluster.run_on_loop(lambda: (led.log.epochs.entries, led.log.log_end_offset))

        async def read_destination() -> tuple[object, int, list[int]]:
            async with AsyncAdmin(cluster.bootstrap_servers) as admin:
                reader = LeaderReader(admin, TP)
                batches = [batch.base_offset async for batch in reader.batches(1, 3)]
                assert await reader.offset(OffsetSpec.EARLIEST) == 0
                return *await reader.epochs(), batches

        entries, end, batches = asyncio.run(read_destination())
    assert len(expected[0]) == 2
    assert ((entries, end), batches) == (expected, [0, 2])
