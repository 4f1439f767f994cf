"""Target: a whole kmirror broker in the simulator, with all its APIs, and the effects of refused requests.

Each request gets a response or its link is closed, at once or when its wait is over; a valid one gets a response.
Nothing is raised, in this broker or in the controller. A broker that refuses a request has the same logs, metadata and
group members as before; the effect of an accepted request shows in later responses (`effects`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.fuzz.disconnect_rules import api_versions_request, check_disconnect, read_versions
from kmirror.fuzz.effects import check_effect
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.requests import GROUPS, PARTITIONS, TOPIC, requests
from kmirror.fuzz.responses import is_refusal, judge_response, key_and_version, may_block
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.events import CloseLink, Effect, Event, LinkClosed, OutboundLink, ResponseReceived, Send
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.api_keys import API_KEYS

SESSION_FRAMES = 2_000
"""Frames after which the cluster is created from scratch: this bounds its state and the frames that a finding needs."""
AT_ONCE_US = 2 * SECOND
TIMEOUT_US = 120 * SECOND
STEP_S_MAX = 5.0
EFFECT_US = 5 * SECOND
"""Maximum time until the broker has applied a change, in virtual microseconds."""
_EFFECT_STEP_S = 0.1
_PEER = "fuzz"
_CLOSED = "closed"
_CONFIGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "mirror.topic.num.partitions": "1",
}
_COORDINATORS = (0, 1, 3)  # Key types: groups, transactions and mirrors.
_VERSION = 7  # FindCoordinator's first version with mirrors.
_SETTLE_S = 5.0
_REST_S = 120.0

# As in Kafka, a refused JoinGroup leaves the empty group whose first member it would have become
# (GroupMetadataManager.classicGroupJoinToClassicGroup).
_MAY_CREATE_GROUP = frozenset({API_KEYS["JoinGroup"]})
_MEMBERS = "members of group "


class _Peer:
    """The other end of the links, which only records responses."""

    def __init__(self) -> None:
        self.response: bytes | None = None
        self.is_closed = False

    def begin(self) -> None:
        """Forget the response to the previous request."""
        self.response, self.is_closed = None, False

    @property
    def is_over(self) -> bool:
        """Return whether the request is over."""
        return self.response is not None or self.is_closed

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Record a response, or that the link was closed."""
        match event:
            case ResponseReceived(_, frame):
                self.response = bytes(frame)
            case LinkClosed():
                self.is_closed = True
            case _:
                pass
        return []


class NodeTarget:
    """A cluster of one broker and a controller, from a seed, and created from scratch after `SESSION_FRAMES` frames."""

    name = "node"
    remarks: Sequence[str] = ()

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._frames: list[bytes] = []
        self.reset()

    @property
    def before(self) -> Sequence[bytes]:
        """Return the frames since the cluster was created, without the last."""
        return self._frames[:-1]

    def reset(self) -> None:
        """Create the cluster from scratch."""
        self._frames = []
        self._is_broken = False
        simulation = Simulation(seed=self._seed)
        self.cluster = Cluster(simulation, "fuzzed", brokers=1, configs=_CONFIGS)
        self.cluster.start()
        self.cluster.create_topic(TOPIC, PARTITIONS)
        self._world = simulation.world
        self._peer = _Peer()
        self._world.add(_PEER, _PEER, lambda: self._peer)
        self._world.start(_PEER)
        self._link = OutboundLink(self.cluster.endpoint(1), _PEER)
        self._ask(api_versions_request())
        assert self._peer.response is not None
        self._versions = read_versions(self._peer.response)
        self._find_coordinators()
        simulation.run_for(span_s=_SETTLE_S)

    def _find_coordinators(self) -> None:
        """Have the coordinators' topics created, so that no request of the stream creates them."""
        for key_type in _COORDINATORS:
            body = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["any"])
            self._ask(encode_request(body, _VERSION, correlation_id=0, client_id=_PEER))

    def close(self) -> None:
        """Do nothing: there are no resources."""

    def judge(self, frame: Frame) -> str:
        """Return the outcome: "taken", the codes of the response, "closed" or "waits"; raises `Fault`."""
        if self._is_broken or len(self._frames) >= SESSION_FRAMES:
            self.reset()
        self._frames.append(frame.data)
        began = time.perf_counter()
        state = self._state()
        try:
            outcome = self._outcome(frame.data)
            if outcome == _CLOSED:
                check_disconnect(frame, self._versions)
        except Fault:
            self._close_link()
            raise
        except Exception as error:
            self._is_broken = True
            raise fault_of_exception(error) from error
        seconds = time.perf_counter() - began
        if seconds > STEP_S_MAX:
            raise Fault(FaultKind.SLOW, f"{seconds:.1f} s", "slow", f"at most {STEP_S_MAX} s")
        if is_refusal(outcome) and self._side_effects(frame.data, state):
            self._check_without_concurrency()
        return outcome

    def _check_without_concurrency(self) -> None:
        """Repeat the session in a new cluster, with a pause before the last frame; raises `Fault` if it shows again.

        Otherwise a group may have lost a member, or a transaction timed out, at the moment when the frame was refused.
        """
        *before, data = self._frames
        self.reset()
        for each in before:
            self._outcome(each)
        self._close_link()
        self.cluster.simulation.run_for(span_s=_REST_S)
        state = self._state()
        outcome = self._outcome(data)
        changes = self._side_effects(data, state)
        if is_refusal(outcome) and changes:
            self._frames = [*before, data]
            raise Fault(FaultKind.STATE, f"{outcome}, and {changes}", "state", "as it was")

    def _outcome(self, data: bytes) -> str:
        peer = self._peer
        if not self._ask(data):
            if may_block(data, TIMEOUT_US / SECOND):
                self._close_link()
                return "waits"
            self._await_response_or_close(TIMEOUT_US)
        if peer.response is not None:
            response = peer.response
            outcome = judge_response(data, response)
            self._check_effect(data, response)
            return outcome
        if peer.is_closed:
            return _CLOSED
        raise Fault(
            FaultKind.SILENT, "neither an answer nor a closed link", "silent", f"one within {TIMEOUT_US // SECOND} s"
        )

    def _check_effect(self, data: bytes, response: bytes) -> None:
        """Raise `Fault` if a part answered with NONE has no effect after `EFFECT_US`."""
        deadline = self._world.now + EFFECT_US

        def wait() -> bool:
            if self._world.now >= deadline:
                return False
            self.cluster.simulation.run_for(span_s=_EFFECT_STEP_S)
            return True

        check_effect(data, response, self._request, wait)

    def _request(self, body: Message, version: int) -> Message:
        """Send a request to the broker, and return its response."""
        self._ask(encode_request(body, version, correlation_id=0, client_id=_PEER))
        assert self._peer.response is not None, "questions are answered at once"
        return decode_response(self._peer.response, key_of(type(body)), version).body

    def _ask(self, data: bytes) -> bool:
        """Send a request; return whether its response or the end of its link came at once."""
        self._peer.begin()
        self._world.perform(_PEER, [Send(self._link, (data,))])
        return self._await_response_or_close(AT_ONCE_US)

    def _await_response_or_close(self, span_us: Duration) -> bool:
        """Let time pass until the request gets a response or its link is closed; return False if neither happened."""
        peer, world = self._peer, self._world
        deadline = world.now + span_us
        while not peer.is_over and world.now < deadline:
            world.step()
        return peer.is_over

    def _close_link(self) -> None:
        self._world.perform(_PEER, [CloseLink(self._link)])

    def _state(self) -> dict[str, Any]:
        """Return the log end offsets, the metadata log's too, and the members of each group."""
        parts = self.cluster.broker(1).parts
        found: dict[str, Any] = {
            str(tp): partition.log.log_end_offset for tp, partition in parts.replicas.partitions.items()
        }
        found["metadata"] = self.cluster.image.offset
        for name in GROUPS:
            group = parts.components.get(GroupCoordinator).find(name)
            found[_MEMBERS + name] = sorted(group.members) if isinstance(group, ClassicGroup) else []
        return found

    def _side_effects(self, data: bytes, before: dict[str, Any]) -> str:
        """Return a description of the forbidden changes by a refused request; "" if there are none."""
        now = self._state()
        changed = [name for name in now if now[name] != before.get(name)]
        if key_and_version(data)[0] in _MAY_CREATE_GROUP:
            changed = [name for name in changed if name.startswith(_MEMBERS)]
        return ", ".join(f"{name} from {before.get(name)} to {now[name]}" for name in changed)


def open_target(options: TargetOptions) -> tuple[NodeTarget, Stream]:
    """Return the target, and requests about its topic."""
    target = NodeTarget(options.seed)
    return target, requests(options.seed, options.messages, [target.cluster.image.topics[TOPIC].topic_id])
