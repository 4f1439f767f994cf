"""Consumer in the simulation, with the interface of kafka-python; it reads a log as an application would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kmirror.client import consumer as client
from kmirror.client.consumer import ConsumerConfigs, ConsumerRecord, FetchedRecords, OnRound, Round
from kmirror.client.positions import Position
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.target import Target, check_target
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec

PAUSE: Duration = 100 * MILLISECOND
READ_TIMEOUT_MS = 60_000
RESETS = (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
OFFSET_MAX = (1 << 63) - 1


class Consumer:
    """Consumer of whole topics, or of the partitions passed to `assign`; each call runs the world until it is done."""

    def __init__(
        self,
        cluster: Target,
        *topics: str,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        auto_offset_reset: OffsetSpec = OffsetSpec.EARLIEST,
        consumer_timeout_ms: int = 1_000,
        client_rack: str = "",
    ) -> None:
        """Raise UsageError for topic names that are not strings, and for settings with a wrong type or value."""
        check_target(cluster)
        for topic in topics:
            arguments.text("a topic", topic)
        arguments.member("isolation", isolation, IsolationLevel)
        if auto_offset_reset not in RESETS:
            raise UsageError(
                f"auto_offset_reset is OffsetSpec.EARLIEST or OffsetSpec.LATEST, not {auto_offset_reset!r}"
            )
        arguments.whole_number("consumer_timeout_ms", consumer_timeout_ms, 0)
        self._cluster = cluster
        self._topics = topics
        self._isolation = isolation
        self._timeout_ms = consumer_timeout_ms
        self._assigned: tuple[TopicPartition, ...] = ()
        servers = tuple(cluster.endpoint(broker_id) for broker_id in cluster.broker_ids)
        configs = ConsumerConfigs(
            isolation_level=isolation,
            auto_offset_reset=auto_offset_reset,
            client_rack=arguments.text("client_rack", client_rack),
        )
        self._client = client.Consumer(cluster.client.new_name("consumer"), cluster.client.requester, servers, configs)
        self._positions = self._client.positions

    def __repr__(self) -> str:
        positions = (f"{tp} at {self._positions[tp].offset}" for tp in self._assigned if tp in self._positions)
        text = ", ".join(positions) or "no position"
        return f"<Consumer of {self._cluster.name}, {self._isolation.name.lower()}: {text}>"

    # -- positions ----------------------------------------------------------------------------

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read only these partitions, each from its current position, or as the reset policy decides."""
        self._assigned = tuple(arguments.partitions(partitions))
        self._topics = ()
        for tp in [tp for tp in self._positions if tp not in self._assigned]:
            del self._positions[tp]

    def assignment(self) -> tuple[TopicPartition, ...]:
        """Return the partitions that are read: the assigned ones, or all of the topics."""
        if self._topics and not self._assigned:

            def is_known(_: Round) -> bool:
                return all(self._client.partitions_of(topic) for topic in self._topics)

            self._run_rounds_until(
                lambda now, done: self._client.find(now, self._topics, done), is_known, "a broker answers"
            )
            self._assigned = tuple(sorted(tp for topic in self._topics for tp in self._client.partitions_of(topic)))
        return self._assigned

    def seek(self, tp: TopicPartition, offset: int) -> None:
        """Continue at `offset` (>= 0); out of range, the reset policy decides. UsageError if `tp` is not read."""
        self._check_assigned(tp)
        self._positions[tp] = Position(arguments.whole_number("offset", offset, 0, OFFSET_MAX))

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read these partitions, or all, from the log start offset; UsageError for a partition that is not read."""
        self._seek_to(partitions or self.assignment(), OffsetSpec.EARLIEST)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Read these partitions, or all, from the current end for this isolation level; UsageError as above."""
        self._seek_to(partitions or self.assignment(), OffsetSpec.LATEST)

    def _seek_to(self, partitions: Iterable[TopicPartition], spec: OffsetSpec) -> None:
        requested = list(partitions)
        for tp in requested:
            self._check_assigned(tp)
        for tp, offset in self._offsets_of(requested, spec).items():
            self.seek(tp, offset)

    def position(self, tp: TopicPartition) -> int:
        """Return the offset of the next record to read; UsageError if `tp` is not read."""
        self._check_assigned(tp)
        if tp not in self._positions:
            self._seek_to([tp], self._client.configs.auto_offset_reset)
        return self._positions[tp].offset

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the end of each log for this isolation level: the last stable offset or the high watermark."""
        return self._offsets_of(partitions, OffsetSpec.LATEST)

    def _check_assigned(self, tp: TopicPartition) -> None:
        if arguments.partition(tp) not in self.assignment():
            raise UsageError(f"{tp} is not read by this consumer: name its topic, or assign it")

    def _offsets_of(self, partitions: Iterable[TopicPartition], spec: OffsetSpec) -> dict[TopicPartition, int]:
        requested = arguments.partitions(partitions)
        found: dict[TopicPartition, int] = {}

        def start(now: Instant, done: OnRound) -> None:
            self._client.list_offsets(now, [tp for tp in requested if tp not in found], spec, done)

        def has_all_offsets(answer: Round) -> bool:
            found.update(answer.offsets)
            return all(tp in found for tp in requested)

        self._run_rounds_until(
            start, has_all_offsets, f"the leaders of {', '.join(map(str, requested[:3]))} return the {spec.name} offset"
        )
        return {tp: found[tp] for tp in requested}

    # -- records ------------------------------------------------------------------------------

    def poll(self, timeout_ms: int = 0, max_records: int | None = None) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Return the available records, at most `max_records`; wait up to `timeout_ms` of virtual time for them.

        Raises KafkaError for a partition that does not exist, and UsageError without a topic or an assignment.
        """
        arguments.whole_number("timeout_ms", timeout_ms, 0)
        if max_records is not None:
            arguments.whole_number("max_records", max_records, 1)
        found: dict[TopicPartition, list[ConsumerRecord]] = {}
        left = max_records
        for tp, fetched in self._fetch_within(timeout_ms).items():
            if left == 0:
                break
            records, after = fetched.records, fetched.after
            if left is not None and len(records) > left:
                records = records[:left]
                after = records[-1].next_position
            self._positions[tp] = after
            if records:
                found[tp] = records
                left = None if left is None else left - len(records)
        return found

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """Yield records until none arrives for `consumer_timeout_ms`; a `seek` meanwhile affects the next record."""
        while True:
            fetched = self._fetch_within(self._timeout_ms)
            if not any(part.records for part in fetched.values()):
                return
            for tp, part in fetched.items():
                yield from self._iterate_records(tp, part)

    def _iterate_records(self, tp: TopicPartition, part: FetchedRecords) -> Iterator[ConsumerRecord]:
        """Yield the records of one partition and advance its position with each, until other code changes it."""
        expected = part.before
        for record in part.records:
            if self._positions.get(tp) is not expected:
                return
            expected = self._positions[tp] = record.next_position
            yield record
        if self._positions.get(tp) is expected:
            self._positions[tp] = part.after

    def _fetch_within(self, timeout_ms: int) -> dict[TopicPartition, FetchedRecords]:
        """Fetch until there are records or the time is up; positions are not moved past any record."""
        world = self._cluster.simulation.world
        deadline = world.now + timeout_ms * MILLISECOND
        partitions = self.assignment()
        if not partitions:
            raise UsageError("this consumer reads nothing: name a topic when it is made, or assign partitions")
        while True:
            fetched = self._run_round(lambda now, done: self._client.poll(now, partitions, done, max_wait_ms=0)).fetched
            if any(part.records for part in fetched.values()) or world.now >= deadline:
                return fetched
            for tp, part in fetched.items():
                self._positions[tp] = part.after
            world.run_for(span_us=PAUSE)

    # -- rounds -------------------------------------------------------------------------------

    def _run_round(self, start: Callable[[Instant, OnRound], None]) -> Round:
        """Run the world until a round is over; KafkaError for an error that cannot be retried."""
        world = self._cluster.simulation.world
        rounds: list[Round] = []
        start(world.now, lambda _now, answer: rounds.append(answer))
        self._cluster.client.perform()
        world.run_until(lambda: bool(rounds), within_us=200 * SECOND, what="answers to a consumer")
        for kafka_error in rounds[0].errors:
            error = kafka_error.error
            text = f"cannot read {kafka_error.what}: {error.name}: {error.text}"
            raise self._cluster.simulation.kafka_error(error, text)
        return rounds[0]

    def _run_rounds_until(
        self, start: Callable[[Instant, OnRound], None], is_enough: Callable[[Round], bool], what: str
    ) -> None:
        """Run rounds until one satisfies `is_enough`; SimulationFailure after a minute."""
        world = self._cluster.simulation.world
        deadline = world.now + READ_TIMEOUT_MS * MILLISECOND
        while not is_enough(self._run_round(start)):
            if world.now >= deadline:
                raise world.failure(f"a consumer of {self._cluster.name} waited in vain until {what}")
            world.run_for(span_us=PAUSE)


def read(cluster: Target, tp: TopicPartition, isolation: IsolationLevel) -> list[ConsumerRecord]:
    """Return all records of a partition up to its current end.

    Raises KafkaError if the cluster has no such partition, and SimulationFailure if it takes more than a minute.
    """
    world = cluster.simulation.world
    consumer = Consumer(cluster, isolation=isolation)
    consumer.assign([tp])
    (end,) = consumer.end_offsets([tp]).values()
    deadline = world.now + READ_TIMEOUT_MS * MILLISECOND
    records: list[ConsumerRecord] = []
    while consumer.position(tp) < end:
        if world.now >= deadline:
            raise world.failure(f"{tp} in {cluster.name} was read to {consumer.position(tp)} of {end} only")
        for part in consumer.poll(timeout_ms=1_000).values():
            records += part
    return records
