"""Rules of transaction coordinators: changes of a transactional id, record by record of `__transaction_state`.

The records are compared with the transitions that Kafka allows. Two facts come from elsewhere: whether a client
requested the end (its request came in the same event), and whether a partition has the marker (its leader no longer has
the transaction open).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import COMPLETED, EPOCH_MAX, PREPARING, Status, is_exhausted
from kmirror.cluster.node.partition import Partition
from kmirror.histories.account import UNAWARE
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest
from kmirror.histories.monitors.log_model import LogModel
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.histories.transaction_statuses import STATUSES_AFTER
from kmirror.kernel.clock import MILLISECOND, Duration, Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.protocol.gen.transaction_log_key import TransactionLogKey
from kmirror.protocol.gen.transaction_log_value import TransactionLogValue
from kmirror.protocol.keyed_records import decode_record
from kmirror.records.batch import Batch
from kmirror.records.record import Record
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM
from kmirror.spec.topics import TRANSACTION_TOPIC

SEARCH_INTERVAL: Duration = 500 * MILLISECOND
"""Time between two searches for transactions that take too long."""
SLACK: Duration = 2_500 * MILLISECOND
"""For two more sweeps, and clocks that drift."""
SWEEPS = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
EPOCH_BUMPS_IN = 5
"""First version of EndTxn that raises the producer epoch."""
REFUSALS = (
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.INVALID_TXN_STATE,
)


@dataclass(frozen=True, slots=True)
class _State:
    """State in the latest record of a transactional id."""

    status: Status
    producer_id: int
    epoch: int
    timeout_ms: int
    started_ms: int
    partitions: frozenset[TopicPartition]
    client_version: int


@dataclass(frozen=True, slots=True)
class _Open:
    """A transaction that a partition's leader has open when its end is decided."""

    leader: Partition
    leader_epoch: int
    first_offset: int


@dataclass(slots=True)
class _Shard:
    """The transactional ids in the log of a leader of `__transaction_state`."""

    states: dict[str, _State]
    due: dict[str, Instant]
    """Transactional ids whose transaction has timed out, and since when nothing prevents its end."""


class TransactionMonitor(FrameMonitor, Monitor):
    """Judges transaction coordinators."""

    APIS = ("EndTxn",)
    EVERY = 8

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._shards: dict[tuple[str, int, TopicPartition], _Shard] = {}
        self._open: dict[tuple[str, str], list[_Open]] = {}
        """(cluster, transactional id) to its open transactions in partitions when the end was decided."""
        self._pending: dict[PendingRequest, None] = {}
        """EndTxn requests without a response."""
        self._ended: dict[tuple[str, str], int] = {}
        """(process, transactional id) to the number of the last event in which such a request was answered."""
        self._searched_at: dict[tuple[str, int], Instant] = {}

    # -- requests -----------------------------------------------------------------------------

    def on_request(self, pending: PendingRequest) -> None:
        """Record a request to end a transaction."""
        self._pending[pending] = None

    def on_response_sent(self, pending: PendingRequest) -> None:
        """Check the response to an EndTxn that repeats an earlier one: it must not fence its client."""
        self._pending.pop(pending, None)
        body, answer, process = pending.body, pending.answer, pending.link.server
        assert isinstance(body, EndTxnRequest) and isinstance(answer, EndTxnResponse)
        events = self._scene.simulation.world.processes[process].events
        self._ended[process, body.transactional_id] = events
        if answer.error_code not in REFUSALS:
            return
        rises = pending.version >= EPOCH_BUMPS_IN
        status = COMPLETED[0] if body.committed else COMPLETED[1]
        for (*owner, tp), shard in self._shards.items():
            state = shard.states.get(body.transactional_id) if owner == [pending.cluster, pending.node_id] else None
            if state is None or rises != (state.client_version >= EPOCH_BUMPS_FROM):
                continue
            is_same = state.producer_id == body.producer_id and state.epoch == body.producer_epoch + rises
            if is_same and state.status is status:
                text = f"{body.transactional_id}: it is {status.display_name}, but the response to a repeated EndTxn is"
                error = ErrorCode(answer.error_code).name
                self._rules.report(pending.cluster, pending.node_id, tp, "transaction-again", f"{text} {error}")

    # -- records ------------------------------------------------------------------------------

    def on_log_read(self, cluster: str, leader: Partition, model: LogModel, *, from_start: bool) -> None:
        """Judge the records that were appended to a log of `__transaction_state`, or all with `from_start`."""
        key = cluster, leader.broker_id, leader.tp
        if from_start:
            self._shards[key] = _Shard({}, {})
        shard = self._shards[key]
        # After a run of the cleaner, adjacent records of an id need not be successive ones.
        judges = not from_start or not (leader.log.cleaned_offset or leader.log.log_start_offset)
        for written in model.new:
            batch = Batch(leader.log.store.view(written.segment), written.position)
            for record in () if batch.is_control else batch.records():
                name, after = _decoded(record)
                before = shard.states.get(name)
                if after is None:
                    shard.states.pop(name, None)
                    continue
                shard.states[name] = after
                broken = list(_violations(before, after)) if judges else []
                if not (broken or from_start) and written.epoch == leader.leader_epoch:
                    broken = list(self._violations_on_append(cluster, leader, name, before, after))
                for rule, text in broken:
                    self._rules.report(cluster, leader.broker_id, leader.tp, rule, f"{name}: {text}")

    def _is_fenced_out(self, cluster: str, tp: TopicPartition, marked: _State, one: _Open) -> bool:
        """Return whether an unclean leader of `tp` lacks the newer epoch in which the producer has written since.

        The partition then refuses the marker forever, and counts as done.
        """
        entry = one.leader.log.producers.entries.get(marked.producer_id)
        is_newer = entry is not None and entry.producer_epoch > marked.epoch
        return is_newer and self._scene.account.was_led_uncleanly(cluster, tp)

    def _violations_on_append(
        self, cluster: str, leader: Partition, name: str, before: _State | None, after: _State
    ) -> Iterator[tuple[str, str]]:
        """Yield the errors in a record at the moment when its leader appends it."""
        if after.status in PREPARING:
            self._open[cluster, name] = self._open_transactions(cluster, after)
            keeps_epoch = before is not None and before.epoch == after.epoch and before.producer_id == after.producer_id
            if (
                keeps_epoch
                and after.epoch < EPOCH_MAX
                and not self._is_requested(f"{cluster}-{leader.broker_id}", name)
            ):
                yield "transaction-fence", f"no client requested its end, but its producer keeps epoch {after.epoch}"
        elif after.status in COMPLETED and before is not None:
            account = self._scene.account
            for one in self._open.pop((cluster, name), []):
                is_same = self._leader(cluster, one.leader.tp) is one.leader
                is_same = is_same and one.leader.leader_epoch == one.leader_epoch
                # A leader deposed by an unclean election a moment ago may have taken the marker.
                is_same = is_same and not account.was_led_uncleanly(cluster, one.leader.tp, self._scene.now - UNAWARE)
                is_same = is_same and not self._is_fenced_out(cluster, leader.tp, before, one)
                if is_same and one.leader.log.producers.ongoing.get(one.first_offset) == before.producer_id:
                    yield (
                        "transaction-markers",
                        f"it is {after.status.display_name}, but open at the leader of {one.leader.tp} from offset "
                        f"{one.first_offset} on",
                    )

    def _is_requested(self, process: str, name: str) -> bool:
        """Return whether a client waits for the end of a transaction, or got its response in this event."""
        events = self._scene.simulation.world.processes[process].events
        return self._ended.get((process, name)) == events or any(
            pending.link.open
            and pending.link.server == process
            and getattr(pending.body, "transactional_id", "") == name
            for pending in self._pending
        )

    def _open_transactions(self, cluster: str, state: _State) -> list[_Open]:
        found = []
        for tp in sorted(state.partitions):
            leader = self._leader(cluster, tp)
            if leader is not None:
                ongoing = leader.log.producers.ongoing.items()
                mine = [first for first, producer_id in ongoing if producer_id == state.producer_id]
                found += [_Open(leader, leader.leader_epoch, first) for first in mine]
        return found

    def _leader(self, cluster: str, tp: TopicPartition) -> Partition | None:
        """Return the leader of a partition; None if there is none, or its log has records of another cluster."""
        leader = self._scene.leader(cluster, tp)
        if leader is None:
            return None
        components = self._scene.clusters[cluster].broker(leader.broker_id).parts.components
        return None if components.has_foreign_epochs(leader) else leader

    # -- time ---------------------------------------------------------------------------------

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        key, now = (cluster, broker.context.node_id), self._scene.now
        if now - self._searched_at.get(key, 0) >= SEARCH_INTERVAL:
            self._searched_at[key] = now
            self._report_overdue(cluster, broker)

    def _report_overdue(self, cluster: str, broker: Broker) -> None:
        """Report transactions that are ongoing although they have timed out, and nothing blocks their coordinator."""
        scene, node_id = self._scene, broker.context.node_id
        now_ms = to_ms(scene.local_time(cluster, node_id))
        patience = broker.context.configs.integer(SWEEPS) * MILLISECOND + SLACK
        led = broker.parts.components.get(TransactionCoordinator).runtime.states()
        for (*owner, tp), shard in self._shards.items():
            if owner != [cluster, node_id]:
                continue
            leader = broker.parts.replicas.partitions.find_led(tp)
            if (
                tp.partition not in led
                or leader is None
                or leader.log.high_watermark < leader.log.log_end_offset
                or len(leader.isr) < leader.min_isr
            ):
                shard.due = {}
                continue
            # The clock may have leapt, so the time since when a transaction is due counts.
            due = {name: state for name, state in shard.states.items() if _is_due(state, now_ms)}
            shard.due = {name: shard.due.get(name, scene.now) for name in due}
            for name, since in shard.due.items():
                if scene.now - since > patience:
                    text = f"ongoing since {due[name].started_ms}, with a timeout of {due[name].timeout_ms} ms"
                    self._rules.report(cluster, node_id, tp, "transaction-overdue", f"{name}: {text}")


def _is_due(state: _State, now_ms: int) -> bool:
    is_late = state.status is Status.ONGOING and state.started_ms + state.timeout_ms < now_ms
    return is_late and not is_exhausted(state.epoch)  # It may take time to get another producer id.


def _decoded(record: Record) -> tuple[str, _State | None]:
    """Return the transactional id of a record, and its state."""
    key, value, _ = decode_record(TRANSACTION_TOPIC, record.key or b"", record.value)
    assert isinstance(key, TransactionLogKey)
    if value is None:
        return key.transactional_id, None
    assert isinstance(value, TransactionLogValue)
    partitions = [
        TopicPartition(row.topic, number) for row in value.transaction_partitions or () for number in row.partition_ids
    ]
    return key.transactional_id, _State(
        Status(value.transaction_status),
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        value.transaction_start_timestamp_ms,
        frozenset(partitions),
        value.client_transaction_version,
    )


def _violations(before: _State | None, after: _State) -> Iterator[tuple[str, str]]:
    """Yield the errors in a record that follows another one."""
    status = None if before is None else before.status
    if after.status not in ((Status.EMPTY,) if status is None else STATUSES_AFTER[status]):
        yield (
            "transaction-life",
            f"{after.status.display_name} comes after {'nothing' if status is None else status.display_name}",
        )
        return
    if before is None:
        return
    if before.status is not Status.ONGOING and after.status in PREPARING and after.client_version < EPOCH_BUMPS_FROM:
        yield "transaction-life", f"{after.status.display_name} comes after {before.status.display_name}"
    if before.status is Status.ONGOING or before.status in PREPARING:
        if after.started_ms != before.started_ms:
            yield "transaction-start", f"it began at {before.started_ms}, but now at {after.started_ms}"
        removed = before.partitions - after.partitions if after.status not in COMPLETED else frozenset()
        if removed:
            yield "transaction-partitions", f"{', '.join(map(str, sorted(removed)))} are no longer in it"
    if before.producer_id == after.producer_id:
        if after.epoch < before.epoch:
            yield "transaction-epoch", f"producer epoch {after.epoch} comes after {before.epoch}"
    elif after.epoch or after.status not in (Status.EMPTY, *COMPLETED):
        text = f"producer {after.producer_id} in epoch {after.epoch} replaces {before.producer_id}"
        yield "transaction-producer", f"{text} when it becomes {after.status.display_name}"
