"""Two Kafka clusters with a mirror between them, over TCP, for tests.

with kmirror.testing.mirror_pair(topics={"orders": 3}) as pair:
    pair.source.produce("orders", 0, [b"one"])
    pair.add_topics("orders")
    pair.catch_up()
    pair.fail_over()
    pair.destination.produce("orders", 0, [b"two"])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from kmirror.assembly.mirrors import add_topics_request, create_request, first_error, remove_topics_request
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.events import Note
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import as_names
from kmirror.mirror.facts import StateEntered
from kmirror.mirror.states import MirrorState
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.message import Message
from kmirror.testing.clusters import cluster

WITHIN_S = 60.0


class MirrorPair:
    """Two running clusters and a mirror (KIP-1279) from `source` to `destination`."""

    def __init__(self, source: TcpCluster, destination: TcpCluster, mirror: str) -> None:
        """Create the mirror; KafkaError if the destination rejects it."""
        self.source = source
        self.destination = destination
        self.mirror = arguments.text("mirror", mirror)
        self._states: dict[TopicPartition, MirrorState] = {}
        self._added: dict[str, None] = {}
        destination.on_note.append(self._record_state)
        self._send(create_request(mirror, source.bootstrap_servers, {}))

    def __repr__(self) -> str:
        return f"<MirrorPair {self.mirror}: {self.source!r} to {self.destination!r}>"

    def add_topics(self, *topics: str) -> None:
        """Start mirroring topics; KafkaError if one is rejected, UsageError if the source lacks it."""
        names = as_names(topics)
        self.source.partitions(names)
        self._send(add_topics_request(self.mirror, {name: self.source.image.topics[name].topic_id for name in names}))
        self._added |= dict.fromkeys(names)

    def catch_up(self, *, within_s: float = WITHIN_S) -> None:
        """Wait until the destination's ISR has all records below the source's current last stable offsets.

        Raises UsageError if no topics were added, KafkaError with REQUEST_TIMED_OUT after `within_s` seconds.
        """
        end_offsets = self.source.run_on_loop(lambda: {tp: self._readable_end(tp) for tp in self._partitions()})

        def has_all() -> bool:
            return all(self._is_mirroring(tp, end) for tp, end in end_offsets.items())

        self._wait(has_all, within_s, f"mirror {self.mirror} to catch up")

    def fail_over(self, *, within_s: float = WITHIN_S) -> None:
        """Stop mirroring, and wait until the destination accepts writes to every topic that was mirrored.

        Raises UsageError if no topics were added; KafkaError if a topic is rejected, or with REQUEST_TIMED_OUT after
        `within_s` seconds. The source need not be running.
        """
        self._send(remove_topics_request(self.mirror, self._required_topics()))
        partitions = self.destination.partitions(self._added)
        self._wait(lambda: all(self.state(tp) is MirrorState.STOPPED for tp in partitions), within_s, "the failover")
        self._added.clear()

    def state(self, tp: TopicPartition) -> MirrorState | None:
        """Return the latest state of a partition at the destination, or None if it was never mirrored."""
        return self._states.get(arguments.partition(tp))

    # -- observing the clusters ---------------------------------------------------------------

    def _record_state(self, process: str, note: Note) -> None:
        if isinstance(note.fact, StateEntered) and note.fact.mirror == self.mirror:
            self._states[note.fact.tp] = note.fact.state

    def _required_topics(self) -> list[str]:
        if not self._added:
            raise UsageError(f"mirror {self.mirror} has no topics: call add_topics() first")
        return list(self._added)

    def _partitions(self) -> list[TopicPartition]:
        return self.source.partitions(self._required_topics())

    def _readable_end(self, tp: TopicPartition) -> int:
        """Return the offset up to which a mirror may read a source partition: its last stable offset."""
        leader = self.source.leader(tp)
        if leader is None:
            raise UsageError(f"{tp} has no leader in cluster {self.source.name}, so its last stable offset is unknown")
        return leader.log.last_stable_offset

    def _is_mirroring(self, tp: TopicPartition, end: int) -> bool:
        leader = self.destination.leader(tp)
        return self.state(tp) is MirrorState.MIRRORING and leader is not None and leader.log.high_watermark >= end

    def _wait(self, condition: Callable[[], bool], within_s: float, what: str) -> None:
        try:
            self.destination.until(condition, within_s=within_s, what=what)
        except KafkaError as error:
            states = ", ".join(f"{tp} {state.name}" for tp, state in sorted(self._states.items()))
            raise KafkaError(error.code, f"{error}; states: {states or 'none'}") from None

    def _send(self, request: Message) -> None:
        """Send a request to the destination; KafkaError if it is rejected as a whole or for one topic."""
        rejection = first_error(self.mirror, request, self.destination.order(request))
        if rejection is not None:
            raise KafkaError(*rejection)


@contextmanager
def mirror_pair(
    *,
    brokers: int = 1,
    topics: Mapping[str, int] | Iterable[str] = (),
    configs: Mapping[str, str] | None = None,
    mirror: str = "mirror",
) -> Iterator[MirrorPair]:
    """Yield two clusters, `source` and `destination`, with `brokers` brokers each, and a mirror without topics.

    `topics` are created in the source; `configs` apply to the brokers of both. Both clusters stop at the end of the
    block.
    """
    with (
        cluster(brokers=brokers, topics=topics, configs=configs, name="source") as source,
        cluster(brokers=brokers, configs=configs, name="destination") as destination,
    ):
        yield MirrorPair(source, destination, mirror)
