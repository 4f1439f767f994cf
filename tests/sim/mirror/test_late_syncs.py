"""Changes of a sync that reach the controller after the topic was paused, removed, or deleted and added again (D75)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest import MonkeyPatch

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.syncs.scripts import ControllerRequest, OnResponse
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.message import Message
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import ONE_BROKER, TOPIC, Pair, StagedCluster, WrittenLogs, plain, wait_until_stopped

RETENTION = "retention.ms"
LOGS = WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]})


class Late:
    """Holds the requests of cluster b's syncs to their controller from now on, if they are of one class."""

    def __init__(self, p: Pair, request: type[Message], monkeypatch: MonkeyPatch) -> None:
        self.p = p
        self.held: list[Callable[[Instant], None]] = []
        send = ControllerRequest.send

        def hold_request(
            order: ControllerRequest,
            context: MirrorContext,
            source: RemoteCluster,
            now: Instant,
            on_response: OnResponse,
        ) -> None:
            if isinstance(order.request, request):
                self.held.append(lambda later: send(order, context, source, later, on_response))
            else:
                send(order, context, source, now, on_response)

        monkeypatch.setattr(ControllerRequest, "send", hold_request)

    def wait(self) -> None:
        self.p.run_until(lambda: bool(self.held), "the sync to send a request to the controller")

    def release(self) -> None:
        for release in self.held:
            release(self.p.simulation.world.now)
        self.p.simulation.world.perform("b-1", self.p.b.broker(1).context.outbox.drain())
        self.p.simulation.run_for(span_s=2)


def staged() -> Pair:
    simulation = Simulation(0)
    a = StagedCluster(simulation, "a", brokers=1, replication_factor=1, configs=ONE_BROKER, logs=LOGS)
    b = StagedCluster(simulation, "b", brokers=1, replication_factor=1, configs=ONE_BROKER)
    a.start()
    b.start()
    return Pair(simulation, a, b)


def alter_at_source(p: Pair) -> None:
    assert p.a.alter(TOPIC, {RETENTION: "4000"}) is ErrorCode.NONE


def remove(p: Pair) -> None:
    p.there.remove_topics([TOPIC])
    wait_until_stopped(p.there, [TOPIC])


def pause(p: Pair) -> None:
    p.there.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "PAUSED")


@pytest.mark.parametrize("order", [remove, pause])
@pytest.mark.decision("D75")
def test_a_removed_or_paused_topic_is_not_synced(order: Callable[[Pair], None], monkeypatch: MonkeyPatch) -> None:
    p = staged()
    p.begin()
    late = Late(p, IncrementalAlterConfigsRequest, monkeypatch)
    alter_at_source(p)
    late.wait()
    order(p)
    late.release()
    assert RETENTION not in p.b.image.configs.topic(TOPIC)


@pytest.mark.decision("D75")
def test_a_topic_that_is_mirrored_follows_its_source() -> None:
    p = staged()
    p.begin()
    alter_at_source(p)
    p.run_until(lambda: RETENTION in p.b.image.configs.topic(TOPIC), "the change")


@pytest.mark.decision("D75")
def test_a_topic_that_was_removed_before_it_was_created_is_not_created(monkeypatch: MonkeyPatch) -> None:
    p = staged()
    late = Late(p, CreateTopicsRequest, monkeypatch)
    p.there.create()
    p.there.add_topics([TOPIC])
    late.wait()
    p.there.remove_topics([TOPIC])
    late.release()
    assert TOPIC not in p.b.image.topics


@pytest.mark.decision("D75")
def test_a_topic_that_was_added_again_stays_in_the_mirror(monkeypatch: MonkeyPatch) -> None:
    p = staged()
    p.begin()
    late = Late(p, RemoveTopicsFromMirrorRequest, monkeypatch)
    assert p.a.delete(TOPIC) == [ErrorCode.NONE]
    late.wait()
    remove(p)
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.run_until(lambda: TOPIC not in p.b.image.topics, "the topic to be gone")
    p.there.add_topics([TOPIC])
    late.release()
    assert p.there.topics() == [TOPIC]
    p.a.place_topic(replicas=((1,),))
    p.run_until(lambda: p.b.state() == "MIRRORING", "the topic of that name to be mirrored once it is there")
