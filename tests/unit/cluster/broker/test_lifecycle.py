"""The time until which a broker knows that the controller cannot have fenced it (D32)."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.metadata.directory import ControllerDirectory
from kmirror.cluster.node.lifecycle import TIMER
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.events import Send, TimerFired
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation

CONFIGS = {"broker.heartbeat.interval.ms": "500", "broker.session.timeout.ms": "3000", "request.timeout.ms": "1000"}


class Stage:
    """A cluster of one broker, whose fetches of the metadata log can be held."""

    def __init__(self) -> None:
        self.simulation, self.hooks = Simulation(1), Hooks()
        self.cluster = Cluster(self.simulation, "a", brokers=1, configs=CONFIGS, interpose=self.hooks)
        self.cluster.start()
        self.simulation.run_for(span_s=2)

    def is_in_session(self) -> bool:
        return self.simulation.world.now < self.cluster.broker(1).context.in_session_until

    def lose_controller(self, span_s: float) -> None:
        line = self.simulation.line("a-1", "a-controller")
        line.take_down()
        self.simulation.run_for(span_s=span_s)
        line.bring_up()


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.decision("D32")
def test_each_heartbeat_extends_the_session(stage: Stage) -> None:
    stage.hooks.on(FetchRequest, node=CONTROLLER_ID, from_nodes=True).hold()
    for _ in range(10):
        assert stage.is_in_session()
        stage.simulation.run_for(span_s=1)


@pytest.mark.decision("D32")
def test_after_a_possible_end_of_the_session_the_metadata_log_must_be_replayed(stage: Stage) -> None:
    held = stage.hooks.on(FetchRequest, node=CONTROLLER_ID, from_nodes=True).hold()
    stage.lose_controller(5)
    assert not stage.is_in_session()
    lifecycle = stage.cluster.broker(1).parts.lifecycle
    for _ in range(5):
        stage.simulation.run_for(span_s=1)
        assert not lifecycle.fenced and not stage.is_in_session(), "others may lead what it leads as far as it knows"
    stage.cluster.begin_create_topic("news", 1)
    held.release()
    stage.simulation.run_until(stage.is_in_session, within_s=0.1)


@pytest.mark.decision("D32")
def test_empty_responses_resume_a_session_as_well(stage: Stage) -> None:
    stage.cluster.broker(1).context.in_session_until = 0  # By this broker's clock alone: the log does not contain it.
    stage.simulation.run_until(stage.is_in_session, within_s=3)


@pytest.mark.decision("D32")
def test_a_session_ended_twice_is_resumed_only_by_a_later_fetch(stage: Stage) -> None:
    stage.hooks.on(FetchRequest, node=CONTROLLER_ID, from_nodes=True).hold()
    stage.lose_controller(5)
    stage.simulation.run_for(span_s=2)
    lifecycle = stage.cluster.broker(1).parts.lifecycle
    early = stage.simulation.world.now
    stage.lose_controller(5)
    stage.simulation.run_for(span_s=2)
    lifecycle.on_replayed_all(early)
    assert not stage.is_in_session()
    lifecycle.on_replayed_all(stage.simulation.world.now)
    assert stage.is_in_session()


def test_a_broker_reports_to_the_controller_that_leads(stage: Stage) -> None:
    broker, other = stage.cluster.broker(1), Endpoint("another-controller", 9093)
    context = broker.context
    context.controllers = ControllerDirectory({**context.controllers.endpoints, 101: other}, leader_id=101)
    effects = broker.handle(stage.simulation.world.now, TimerFired((TIMER,)))
    assert [effect.link.peer for effect in effects if isinstance(effect, Send)] == [other]
