"""Persisted steps of each state change of a mirrored partition, and crashes of nodes at each of them.

A `Journey` is one path through the table of states (kmirror/mirror/states.py). It is run once without a crash: that run
gives the journey's persisted steps, each with the number of its event, and the expected end. The same seed gives the
same events, so that a node can be killed just before or just after any of them; the end must be the same, and reached
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import KafkaError
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.state_records import NOT_SETTLED, StateKey, state_partition
from kmirror.mirror.states import MirrorState, Wish, may_follow
from kmirror.protocol.gen.last_mirror_epochs_value import LastMirrorEpochsValue
from kmirror.protocol.gen.mirror_partition_state_value import MirrorPartitionStateValue
from kmirror.protocol.keyed_records import decode_key, decode_value
from kmirror.records.legacy import AnyBatch
from kmirror.sim.checkers import replicas_agree
from kmirror.sim.facts import LeaderElected, Seen
from kmirror.sim.mirror import Mirror
from kmirror.sim.pending import Pending
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import ResourceType
from tests.builders import marker
from tests.sim.stage import (
    ONE_BATCH,
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    pair,
    plain,
    resets,
    settle,
    transactional,
    wait_until_mirrored,
)

S = MirrorState

# Without the last batch, transaction 9 is open: a stop truncates to offset 3, which removes the commit of 7.
LOG = [
    plain(0, 0, "r0"),
    transactional(1, 0, 7, "done"),
    plain(2, 0, "r1"),
    transactional(3, 0, 9, "open"),
    marker(offset=4, epoch=0, pid=7, commit=True),
    plain(5, 0, "above"),
    marker(offset=6, epoch=0, pid=9, commit=False),
]
OURS = [plain(0, 0, "b0"), plain(1, 1, "b1")]

Order = Callable[[Pair], Pending[None] | None]


@dataclass(frozen=True, slots=True)
class Journey:
    """One path through the table of states, from the partition's state after `setup` to `final`."""

    name: str
    setup: Callable[[Pair], None]
    order: Order
    """Starts the journey; returns None if it is started without a request."""
    wish: Wish
    final: MirrorState
    back: bool = False
    """For the mirror from b to a instead of a to b."""
    b_has_records: bool = False
    batch_by_batch: bool = False
    """Cluster b fetches one batch at a time."""
    makes_topic: bool = False
    """The destination has to create the topic, for which it needs all of its brokers."""
    source_is_empty: bool = False
    """Otherwise the number of batches mirrored before the request would depend on its duration."""
    source_is_away: bool = False
    """Nothing comes from the source during the journey, so nothing there is killed."""

    def mirror(self, p: Pair) -> Mirror:
        return p.back if self.back else p.there

    def destination(self, p: Pair) -> StagedCluster:
        return p.a if self.back else p.b

    def source(self, p: Pair) -> StagedCluster:
        return p.b if self.back else p.a


def _created(p: Pair) -> None:
    p.there.create()
    p.simulation.run_until(lambda: MIRROR_STATE_TOPIC in p.b.image.topics, what="the topic of the states")


def _begun(p: Pair) -> None:
    p.begin()


def _cut_off(p: Pair) -> None:
    """The source becomes unreachable before the last batch is mirrored, so that a transaction stays open."""
    _created(p)
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.log().log_end_offset == 6, "all but the last marker")
    p.simulation.line(p.a, p.b).take_down()
    p.run_until(lambda: p.b.log().high_watermark == 6, "the replicas")


def _prepares(p: Pair) -> None:
    """The source does not respond, so that the partition stays in PREPARING."""
    _created(p)
    p.simulation.line(p.a, p.b).take_down()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "PREPARING", "PREPARING")


def _paused(p: Pair) -> None:
    p.begin()
    p.there.pause([TOPIC])
    p.there.wait_for_state(S.PAUSED, [TP])
    p.a.write("while paused")


def _pauses(p: Pair) -> None:
    """The leader has received the pause, and PAUSING is persisted a while later."""
    p.begin()
    for one, other in combinations(p.b.broker_ids, 2):
        p.simulation.line(p.b.process(one), p.b.process(other)).set(latency_ms=50)
    p.there.begin_pause([TOPIC])
    p.run_until(lambda: (mp := p.b.mirror_partition()) is not None and mp.assignment.wish is Wish.PAUSE, "the pause")


def _early(p: Pair) -> None:
    _created(p)
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "PREPARING", "PREPARING")


def _stopped(p: Pair) -> None:
    """Both clusters have new records since the failover."""
    p.begin()
    p.fail_over()
    p.b.write("only b has it")
    p.a.write("only a has it")


def _back_created(p: Pair) -> None:
    _stopped(p)
    p.back.create()


def _is_another_topic(p: Pair) -> None:
    """The source's topic was recreated, which the destination cannot see yet."""
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.a.delete(TOPIC)
    p.a.place_topic()


def _failed(p: Pair) -> None:
    _is_another_topic(p)
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: p.b.state() == "FAILED", "FAILED")


def _restore_line(p: Pair) -> None:
    p.simulation.line(p.a, p.b).bring_up()


def _add(p: Pair) -> Pending[None]:
    return p.there.begin_add_topics([TOPIC])


def _add_back(p: Pair) -> Pending[None]:
    return p.back.begin_add_topics([TOPIC])


def _pause(p: Pair) -> Pending[None]:
    return p.there.begin_pause([TOPIC])


def _resume(p: Pair) -> Pending[None]:
    return p.there.begin_resume([TOPIC])


def _remove(p: Pair) -> Pending[None]:
    return p.there.begin_remove_topics([TOPIC])


# fmt: off
JOURNEYS: tuple[Journey, ...] = (
    Journey("added to an empty log", _created, _add, Wish.MIRROR, S.MIRRORING, makes_topic=True),
    Journey("added to a log of its own", _created, _add, Wish.MIRROR, S.MIRRORING, b_has_records=True),
    Journey("removed while it prepares", _prepares, _remove, Wish.REMOVE, S.STOPPED, b_has_records=True,
            source_is_away=True),
    Journey("paused while it prepares", _early, _pause, Wish.PAUSE, S.PAUSED, source_is_empty=True),
    Journey("paused", _begun, _pause, Wish.PAUSE, S.PAUSED),
    Journey("resumed", _paused, _resume, Wish.MIRROR, S.MIRRORING),
    Journey("removed", _begun, _remove, Wish.REMOVE, S.STOPPED),
    Journey("removed in a transaction", _cut_off, _remove, Wish.REMOVE, S.STOPPED, batch_by_batch=True,
            source_is_away=True),
    Journey("removed while it pauses", _pauses, _remove, Wish.REMOVE, S.STOPPED),
    Journey("removed while paused", _paused, _remove, Wish.REMOVE, S.STOPPED),
    Journey("added again", _stopped, _add, Wish.MIRROR, S.MIRRORING),
    Journey("failed back", _back_created, _add_back, Wish.MIRROR, S.MIRRORING, back=True),
    Journey("fails", _is_another_topic, _restore_line, Wish.MIRROR, S.FAILED),
    Journey("removed once failed", _failed, _remove, Wish.REMOVE, S.STOPPED),
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Step:
    """A persisted step: the event of the run, and the persisted data."""

    event: int
    what: str


@dataclass(frozen=True, slots=True)
class End:
    """The expected end; leader epochs may differ, as an election adds one."""

    batches: tuple[tuple[int, int, str], ...]
    """Base offset, producer id, and the values or the kind of a control batch."""
    states: tuple[MirrorState, ...]
    """The state before the journey, then those of the journey in the order of their records, without repetitions."""
    stopped_records: int
    settled_epochs: tuple[int, ...]
    """The last mirrored epochs of the journey, as recorded."""


@dataclass(frozen=True, slots=True)
class Course:
    """A journey without a crash."""

    steps: tuple[Step, ...]
    end: End
    bumps: int
    """Leader epochs that began without a change of leader."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The node that dies, the step of the journey, and the time of its restart."""

    victim: str
    step: Step
    just_after: bool
    returns: str

    def __str__(self) -> str:
        when = "after" if self.just_after else "before"
        return f"the {self.victim} dies just {when} {self.step.what} (event {self.step.event}), back {self.returns}"


VICTIMS = ("leader", "coordinator", "controller", "source")
"""The leader of the partition at the destination, the leader of its state's records, and the source's leader."""
RETURNS = {"at once": 0.2, "after its session": 8.0, "in the end": None}
"""Seconds until its restart; None if the journey finishes without it."""


class JourneyRun:
    """A running journey: the clusters, and their state before it began."""

    def __init__(self, journey: Journey, seed: int) -> None:
        self.journey = journey
        b_logs = WrittenLogs({TOPIC: OURS}) if journey.b_has_records else None
        log = [] if journey.source_is_empty else LOG
        b_configs = ONE_BATCH if journey.batch_by_batch else {}
        self.pair = pair(seed, logs=WrittenLogs({TOPIC: log}), b_logs=b_logs, b_configs=b_configs)
        self.destination = journey.destination(self.pair)
        journey.setup(self.pair)
        self.shard = self._shard()
        self.recorded_before = self._recorded()
        self.order: Pending[None] | None = None
        self.epoch_before = self._leader_epoch()
        self.bumps = 0
        self._last_leader = -1 if (found := self.destination.image.topics.partition(TP)) is None else found.leader
        self.pair.simulation.on(LeaderElected, self._on_elected)

    def _key(self) -> StateKey:
        topic = self.destination.image.topics.get(TOPIC) or self.pair.a.image.topics[TOPIC]
        return StateKey("m", topic.topic_id, TP.partition)

    def _shard(self) -> TopicPartition:
        key, count = self._key(), len(self.destination.image.topics[MIRROR_STATE_TOPIC].partitions)
        return TopicPartition(MIRROR_STATE_TOPIC, state_partition(key, count))

    def _leader_epoch(self) -> int:
        found = self.destination.image.topics.partition(TP)
        return -1 if found is None else found.leader_epoch

    def _on_elected(self, seen: Seen[LeaderElected]) -> None:
        if seen.cluster == self.destination.name and seen.fact.tp == TP:
            self.bumps += seen.fact.leader == self._last_leader
            self._last_leader = seen.fact.leader

    # -- persisted data -------------------------------------------------------------------------

    def persisted_values(self) -> dict[str, object]:
        """Return all persisted data that the journey changes, by name."""
        here = self.destination
        states, log = here.leader(self.shard), here.leader(TP)
        return {
            "the order": here.image.configs.get((ResourceType.TOPIC, TOPIC), {}).get(MIRROR_NAME),
            "the leader epoch": self._leader_epoch(),
            "a state's record": -1 if states is None else states.log.log_end_offset,
            "the replicas of a state's record": -1 if states is None else states.log.high_watermark,
            "the log": -1 if log is None else log.log.log_end_offset,
            "the log's replicas": -1 if log is None else log.log.high_watermark,
        }

    def _recorded(self) -> list[MirrorState | int]:
        """Return the states, and the settled last mirrored epochs, in the order of their records."""
        found: list[MirrorState | int] = []
        for batch in self.destination.log(self.shard).any_batches():
            for record in () if batch.is_control else batch.records():
                name = decode_key(MIRROR_STATE_TOPIC, record.key or b"")
                decoded = decode_value(MIRROR_STATE_TOPIC, name, record.value)
                value = None if decoded is None else decoded[0]
                if isinstance(value, MirrorPartitionStateValue):
                    found.append(MirrorState(value.state))
                elif isinstance(value, LastMirrorEpochsValue):
                    found.append(value.topics[0].partitions[0].last_mirror_epoch)
        return found

    # -- the journey ----------------------------------------------------------------------------

    def start(self) -> None:
        self.order = self.journey.order(self.pair)

    def has_arrived(self) -> bool:
        here, journey = self.destination, self.journey
        return (
            TOPIC in here.image.topics
            and here.persisted().state is journey.final
            and here.state() == journey.final.name
            and self._is_ordered()
            and (journey.final is not S.MIRRORING or _has_all(journey.source(self.pair), here))
        )

    def _is_ordered(self) -> bool:
        text = self.destination.image.configs.get((ResourceType.TOPIC, TOPIC), {}).get(MIRROR_NAME, "")
        assigned = parse(text)
        return assigned is not None and assigned.wish is self.journey.wish

    def retry(self) -> None:
        """Repeat the request while it was lost with a node."""
        pending = self.order
        for _ in range(5):
            try:
                if pending is not None:
                    pending.result()
            except KafkaError:
                if self._is_ordered():
                    return
                pending = self.journey.order(self.pair)
            else:
                return
        raise AssertionError("the order is not taken")

    def end(self) -> End:
        """Settle the clusters, and return the end; checks that every replica of the destination has the same."""
        here = self.destination
        settle(here)
        difference = replicas_agree(here, [TP])
        assert difference is None, str(difference)
        replicas = list(here.replicas(TP).values())
        ends = {(row.log.log_end_offset, row.log.high_watermark) for row in replicas}
        assert len({end for end, _ in ends}) == 1, f"replicas end at {sorted(ends)}"
        before, recorded = self.recorded_before, self._recorded()[len(self.recorded_before) :]
        first = next((row for row in reversed(before) if isinstance(row, MirrorState)), S.UNKNOWN)
        states = [first, *(row for row in recorded if isinstance(row, MirrorState))]
        log = here.log()
        return End(
            batches=tuple((batch.base_offset, batch.producer_id, _content(batch)) for batch in log.any_batches()),
            states=(first, *(state for former, state in pairwise(states) if state is not former)),
            stopped_records=states[1:].count(S.STOPPED),
            settled_epochs=tuple(row for row in recorded if not isinstance(row, MirrorState) and row != NOT_SETTLED),
        )


def _content(batch: AnyBatch) -> str:
    control = batch.control() if batch.is_control else None
    if control is not None:
        return control.type.name
    return " ".join((record.value or b"").decode() for record in batch.records())


def _has_all(source: StagedCluster, here: StagedCluster) -> bool:
    theirs, ours = source.leader(TP), here.leader(TP)
    return (
        theirs is not None
        and ours is not None
        and ours.log.high_watermark == ours.log.log_end_offset == theirs.log.last_stable_offset
    )


@cache
def course(journey: Journey, seed: int) -> Course:
    """Run a journey without a crash."""
    trip = JourneyRun(journey, seed)
    world, before, steps = trip.pair.simulation.world, trip.persisted_values(), []

    def watch(now: Instant) -> None:
        nonlocal before
        present = trip.persisted_values()
        changed = [f"{name} ({present[name]})" for name in present if present[name] != before[name]]
        if changed:
            steps.append(Step(world.events, ", ".join(changed)))
        before = present

    world.after_event.append(watch)
    trip.start()
    trip.pair.run_until(trip.has_arrived, f"{journey.name}: {journey.final.name}")
    world.after_event.remove(watch)
    trip.retry()
    return Course(tuple(steps), trip.end(), trip.bumps)


def crashes(journey: Journey, seed: int) -> Iterator[Crash]:
    """Yield every crash on a journey, in a fixed order, at least 16 of them for each step."""
    for step, just_after, returns, victim in product(course(journey, seed).steps, (False, True), RETURNS, VICTIMS):
        # Without a controller there are no requests and no elections.
        needs_victim = victim == "controller" or (journey.makes_topic and victim != "source")
        if victim == "source" and journey.source_is_away:
            continue
        if RETURNS[returns] is not None or not needs_victim:
            yield Crash(victim, step, just_after, returns)


def run_with_crash(journey: Journey, seed: int, death: Crash) -> None:
    """Run a journey with a crash; AssertionError unless it ends like the journey without one."""
    trip = JourneyRun(journey, seed)
    p, world = trip.pair, trip.pair.simulation.world
    at = death.step.event if death.just_after else death.step.event - 1
    victims: list[tuple[StagedCluster, int]] = []

    def strike(now: Instant) -> None:
        if world.events == at:
            victims.append(_strike(trip, death))

    world.after_event.append(strike)
    if world.events == at:
        strike(world.now)
    trip.start()
    p.run_until(lambda: bool(victims), f"event {at}")
    world.after_event.remove(strike)
    (cluster, node_id), back_s = victims[0], RETURNS[death.returns]
    if back_s is not None:
        p.simulation.run_for(span_s=back_s)
        cluster.restart(node_id)
    trip.retry()
    p.run_until(trip.has_arrived, f"{journey.name}: {journey.final.name}", within_s=120)
    if back_s is None:
        cluster.restart(node_id)
    _check(trip, death, course(journey, seed))


def _strike(trip: JourneyRun, death: Crash) -> tuple[StagedCluster, int]:
    cluster, tp = trip.destination, TP
    if death.victim == "source":
        cluster = trip.journey.source(trip.pair)
    elif death.victim == "coordinator":
        tp = trip.shard
    known = cluster.image.topics.partition(tp)
    node_id = CONTROLLER_ID if death.victim == "controller" else 1 if known is None else known.leader
    cluster.kill(node_id)
    return cluster, node_id


def _check(trip: JourneyRun, death: Crash, right: Course) -> None:
    journey, here = trip.journey, trip.destination
    found = trip.end()
    assert found.batches == right.end.batches, f"{found.batches}, not {right.end.batches}"
    assert found.settled_epochs == right.end.settled_epochs, f"{found.settled_epochs}, not {right.end.settled_epochs}"
    assert found.stopped_records == right.end.stopped_records, f"{found.stopped_records} records of STOPPED"
    for before, after in pairwise(found.states):
        assert may_follow(before, after), f"{after.name} after {before.name}"
    assert len(found.states) == len(set(found.states)), f"a state comes twice: {found.states}"
    assert found.states[-1:] == right.end.states[-1:], f"{found.states}, not {right.end.states}"
    # A source with a new leader has its next epoch; the destination's epoch must be above it.
    allowed = right.bumps + (death.victim == "source")
    assert trip.bumps <= allowed, f"the leader epoch was raised {trip.bumps} times, not {allowed}"
    if journey.final is S.STOPPED:
        if resets(here.log()):
            assert resets(here.log())[-1].partition_leader_epoch > trip.epoch_before, "no epoch was begun for the stop"
        assert here.write("after the stop") == here.log().log_end_offset - 1
    elif journey.final is S.MIRRORING:
        journey.source(trip.pair).write("after the crash")
        wait_until_mirrored(journey.mirror(trip.pair))
        assert_equal(journey.mirror(trip.pair))
