"""A mirror from brokers of Apache Kafka into a kmirror cluster, with a wait for all decided records of the source."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from kmirror.assembly.mirrors import (
    add_topics_request,
    alter_request,
    create_request,
    first_error,
    pause_topics_request,
    remove_topics_request,
    resume_topics_request,
)
from kmirror.errors import KafkaError
from kmirror.kernel.events import Note
from kmirror.kernel.ids import TopicPartition as Partition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.facts import ReasonChanged, SourceTrouble, StateEntered
from kmirror.mirror.states import MirrorState
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

WITHIN_S = 90.0
MIRROR = "from-kafka"
AFTER_ELECTION = {
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE,
}
"""Errors of a source that has just elected a leader."""


class Mirrored:
    """A mirror named `from-kafka` at `destination`."""

    def __init__(self, source_servers: str, destination: TcpCluster, configs: Mapping[str, str] | None = None) -> None:
        """Create the mirror with `configs` besides the servers, to which the test itself connects too."""
        self.destination = destination
        self.states: dict[Partition, MirrorState] = {}
        self.reasons: dict[Partition, str] = {}
        self.source_errors: list[str] = []
        self._servers = source_servers
        self._topics: list[str] = []
        destination.on_note.append(self._see)
        self._order(create_request(MIRROR, source_servers, configs or {}))

    def _see(self, process: str, note: Note) -> None:
        fact = note.fact
        if isinstance(fact, SourceTrouble):
            self.source_errors.append(fact.reason)
        if isinstance(fact, StateEntered):
            self.states[fact.tp] = fact.state
        if isinstance(fact, StateEntered | ReasonChanged):
            self.reasons[fact.tp] = fact.reason if isinstance(fact, ReasonChanged) else ""

    def add(self, topics: Sequence[str]) -> None:
        """Start to mirror topics."""
        self._order(add_topics_request(MIRROR, dict.fromkeys(topics, Uuid.ZERO)))
        self._topics = sorted({*self._topics, *topics})

    def pause(self) -> None:
        """Pause all topics, and wait until nothing is fetched any more."""
        self._order(pause_topics_request(MIRROR, self._topics))
        self._until_all(MirrorState.PAUSED)

    def resume(self) -> None:
        """Resume all topics."""
        self._order(resume_topics_request(MIRROR, self._topics))

    def alter(self, configs: Mapping[str, str]) -> None:
        """Set configs of the mirror."""
        self._order(alter_request(MIRROR, configs))

    def wait_for_reason(self, *words: str) -> str:
        """Wait until the mirror or a partition waits for a reason with all these words; return the reason."""

        def found() -> list[str]:
            told = [*self.reasons.values(), *self.source_errors]
            return [reason for reason in told if all(word in reason for word in words)]

        self._until(lambda: bool(found()), f"a reason with {words}")
        return found()[0]

    def stable_ends(self) -> dict[Partition, int]:
        """Return the last stable offset of each mirrored partition at the source.

        After an election a broker's metadata may be older than another's, and the new leader returns an error until its
        followers have confirmed its epoch.
        """
        deadline = time.monotonic() + WITHIN_S
        while True:
            try:
                return self._told_ends()
            except KafkaException as error:
                if error.args[0].code() not in AFTER_ELECTION or time.monotonic() > deadline:
                    raise

    def _told_ends(self) -> dict[Partition, int]:
        admin = AdminClient({"bootstrap.servers": self._servers, "log_level": 0})
        found = admin.list_topics(timeout=30).topics
        wanted = {TopicPartition(t, p): OffsetSpec.latest() for t in self._topics for p in found[t].partitions}
        level = IsolationLevel.READ_COMMITTED
        told = admin.list_offsets(wanted, isolation_level=level, request_timeout=30)
        return {Partition(tp.topic, tp.partition): future.result().offset for tp, future in told.items()}

    def catch_up(self) -> None:
        """Wait until the destination's whole ISR has all records that the source has decided by now."""
        ends = self.stable_ends()

        def has_all() -> bool:
            return all(self._has(tp, end) for tp, end in ends.items())

        self._until(has_all, f"everything up to {ends}")

    def _has(self, tp: Partition, end: int) -> bool:
        leader = super(TcpCluster, self.destination).leader(tp)
        return self.states.get(tp) is MirrorState.MIRRORING and leader is not None and leader.log.high_watermark >= end

    def fail_over(self) -> None:
        """End mirroring, and wait until every topic is writable."""
        self._order(remove_topics_request(MIRROR, self._topics))
        self._until_all(MirrorState.STOPPED)

    def _until_all(self, state: MirrorState) -> None:
        tps = list(self.stable_ends())
        self._until(lambda: all(self.states[tp] is state for tp in tps), f"every partition {state.name}")

    def _until(self, condition: object, what: str) -> None:
        try:
            self.destination.until(condition, within_s=WITHIN_S, what=what)  # type: ignore[arg-type]
        except KafkaError as error:
            raise AssertionError(f"{error}\n{self.states}\n{self.reasons}") from None

    def _order(self, request: Message) -> None:
        assert first_error(MIRROR, request, self.destination.order(request)) is None
