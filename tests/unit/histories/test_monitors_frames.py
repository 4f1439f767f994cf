"""Frames are decoded once, and tracked until they are answered, in order of arrival."""

from __future__ import annotations

from kmirror.histories.monitors.frames import FrameMonitor, Frames, PendingRequest
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.headers import encode_request, encode_response
from kmirror.sim.network import Link as RealLink
from kmirror.sim.network import Passing
from tests.unit.histories.monitors import FakeScene, Link, broken_rules, rules_of

VERSION = 4


class Listener(FrameMonitor):
    """Records its calls."""

    APIS = ("Heartbeat",)

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def judges(self, link: RealLink) -> bool:
        return link.client != "c1@a"

    def on_request(self, pending: PendingRequest) -> None:
        assert isinstance(pending.body, HeartbeatRequest)
        self.calls.append(("asked", pending.body.member_id))

    def on_response_sent(self, pending: PendingRequest) -> None:
        assert isinstance(pending.body, HeartbeatRequest) and isinstance(pending.answer, HeartbeatResponse)
        self.calls.append(("answered", pending.body.member_id))

    def on_response_received(self, pending: PendingRequest) -> None:
        assert isinstance(pending.body, HeartbeatRequest)
        self.calls.append(("received", pending.body.member_id))


class Stage:
    """Frames on one link."""

    def __init__(self, client: str = "c0@a", server: str = "a-1") -> None:
        self.scene, self.monitor = FakeScene(), Listener()
        self.frames = Frames(self.scene, rules_of(self.scene), {"a-1": ("a", 1)}, [self.monitor])  # type: ignore[arg-type]
        self.link = Link(client, server)
        self.link.number = 1

    def ask(self, correlation_id: int) -> None:
        """Deliver a request."""
        request = HeartbeatRequest(group_id="g", member_id=str(correlation_id))
        frame = encode_request(request, VERSION, correlation_id=correlation_id, client_id=None)
        self.frames.on_frame(Passing.REQUEST, self.link, frame)  # type: ignore[arg-type]

    def answer(self, correlation_id: int, *passings: Passing) -> None:
        """Deliver a response."""
        frame = encode_response(HeartbeatResponse(), VERSION, correlation_id=correlation_id)
        for passing in passings:
            self.frames.on_frame(passing, self.link, frame)  # type: ignore[arg-type]


def test_requests_are_followed_until_they_are_answered() -> None:
    stage = Stage()
    stage.ask(1)
    stage.ask(2)
    stage.answer(1, Passing.SENT, Passing.RECEIVED, Passing.RECEIVED)
    stage.answer(2, Passing.LOST)
    assert [what for what, correlation_id in stage.monitor.calls if correlation_id == "1"] == [
        "asked",
        "answered",
        "received",
    ]
    assert [what for what, correlation_id in stage.monitor.calls if correlation_id == "2"] == ["asked", "answered"]
    assert broken_rules(stage.scene) == []


def test_responses_are_in_order() -> None:
    stage = Stage()
    stage.ask(1)
    stage.ask(2)
    stage.answer(2, Passing.SENT)
    assert broken_rules(stage.scene) == ["answer-order"]


def test_requests_that_no_observer_wants_are_ignored() -> None:
    for stage in (Stage(client="c1@a"), Stage(server="a-controller")):
        stage.ask(1)
        stage.answer(1, Passing.SENT, Passing.RECEIVED)
        assert stage.monitor.calls == []
