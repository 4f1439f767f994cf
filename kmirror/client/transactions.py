"""A producer's requests to the coordinator: get an id and an epoch, add partitions, end the transaction.

In a cluster whose transaction.version is below 2 (KIP-98, KIP-360) the producer itself adds partitions, and its epoch
stays the same from one transaction to the next. From 2 on (KIP-890) leaders add them when they get the first batch, and
the end of a transaction raises the epoch. A producer changes its mode only between two transactions. One request is
under way at a time; each is repeated until the coordinator has accepted or rejected it, or `max.block.ms` is over. The
states and transitions are those of Kafka's TransactionManager.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from kmirror.client.backoff import Backoff
from kmirror.client.remote_cluster import RemoteCluster, code_of
from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kmirror.protocol.gen.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import FindCoordinatorResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM, TRANSACTION_VERSION
from kmirror.spec.version_limits import TRANSACTIONS_V1_LAST
from kmirror.spec.wire_values import CoordinatorType

FIND_BY_KEYS = 4
"""First version of FindCoordinator that takes a list of keys."""
LOST_COORDINATOR = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
ABORTABLE = (
    ErrorCode.TRANSACTION_ABORTABLE,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.UNKNOWN_PRODUCER_ID,
)
"""Errors after which the producer can abort the transaction and continue."""
OnDone = Callable[[Instant, ErrorCode], None]
"""Gets NONE, the error of the coordinator, or REQUEST_TIMED_OUT."""


class State(Enum):
    """The states of Kafka's TransactionManager."""

    UNINITIALIZED = auto()
    INITIALIZING = auto()
    READY = auto()
    IN_TRANSACTION = auto()
    COMMITTING = auto()
    ABORTING = auto()
    ABORTABLE_ERROR = auto()
    FATAL_ERROR = auto()


PREDECESSORS: Mapping[State, tuple[State, ...]] = {
    State.UNINITIALIZED: (State.INITIALIZING,),
    State.INITIALIZING: (State.UNINITIALIZED, State.READY, State.COMMITTING, State.ABORTING),
    State.READY: (State.INITIALIZING, State.COMMITTING, State.ABORTING),
    State.IN_TRANSACTION: (State.READY,),
    State.COMMITTING: (State.IN_TRANSACTION,),
    State.ABORTING: (State.IN_TRANSACTION, State.ABORTABLE_ERROR),
    State.ABORTABLE_ERROR: (State.IN_TRANSACTION, State.COMMITTING, State.ABORTABLE_ERROR),
    State.FATAL_ERROR: tuple(State),
}
"""State to the states from which it may be entered."""


@dataclass(slots=True)
class _PendingRequest:
    body: Message
    error_of: Callable[[Message], ErrorCode]
    on_done: Callable[[Instant, Message | None, ErrorCode], None]
    until: Instant
    version_max: int | None
    attempts: int = 0


class TransactionManager:
    """The producer id and epoch, and with a transactional id the state of its transaction."""

    def __init__(
        self,
        cluster: RemoteCluster,
        outbox: Outbox,
        *,
        transactional_id: str | None,
        timeout_ms: int,
        backoff: Backoff,
        max_block_ms: int,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = -1
        self.epoch = -1
        self.state = State.UNINITIALIZED
        self.error = ErrorCode.NONE
        """Why the transaction or the producer has failed."""
        self.added_partitions: dict[TopicPartition, None] = {}
        """The partitions of the transaction: the coordinator has added them, or their leaders will add them."""
        self.bumps_epoch = False
        """Whether the end of each transaction raises the epoch: the cluster's transaction.version is 2 or above."""
        self._cluster = cluster
        self._outbox = outbox
        self._timeout_ms = timeout_ms
        self._backoff = backoff
        self._max_block_ms = max_block_ms
        self._coordinator: Endpoint | None = None
        self._pending: deque[_PendingRequest] = deque()
        self._is_sending = False
        self._needs_new_epoch = False
        self.timer: TimerKey = (cluster.name, "coordinator")

    def enter(self, state: State) -> None:
        """Go to another state; raise UsageError if it may not follow the present one."""
        if self.state not in PREDECESSORS[state]:
            raise UsageError(f"a producer that is {self.state.name} cannot become {state.name}")
        self.state = state

    # -- operations of a producer -------------------------------------------------------------

    def init(self, now: Instant, on_done: OnDone) -> None:
        """Get a producer id; with a transactional id also its next epoch, which fences the former producer."""
        self.enter(State.INITIALIZING)
        bump = self._needs_new_epoch
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=self.producer_id if bump else -1,
            producer_epoch=self.epoch if bump else -1,
        )

        def on_response(later: Instant, reply: Message | None, error: ErrorCode) -> None:
            if isinstance(reply, InitProducerIdResponse) and not error:
                self.producer_id, self.epoch = reply.producer_id, reply.producer_epoch
                self._needs_new_epoch = False
                self.bumps_epoch = self._may_bump_epoch()
                self.enter(State.READY)
            elif self.state is State.INITIALIZING:
                self.enter(State.UNINITIALIZED)
            on_done(later, error)

        self._request(now, request, _init_error, on_response)

    def begin(self) -> None:
        """Begin a transaction; at the coordinator it begins with its first partition."""
        self.enter(State.IN_TRANSACTION)
        self.added_partitions.clear()

    def add_partitions(self, now: Instant, partitions: Iterable[TopicPartition], on_done: OnDone) -> None:
        """Add partitions to the transaction at the coordinator; those that are in it already are left out.

        If their leaders add them, they are only recorded here.
        """
        new = [tp for tp in partitions if tp not in self.added_partitions]
        if self.bumps_epoch:
            self.added_partitions.update(dict.fromkeys(new))
        if not new or self.bumps_epoch:
            on_done(now, ErrorCode.NONE)
            return
        topics: dict[str, AddPartitionsToTxnTopic] = {}
        for tp in new:
            topics.setdefault(tp.topic, AddPartitionsToTxnTopic(name=tp.topic)).partitions.append(tp.partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id or "",
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=list(topics.values()),
        )

        def on_response(later: Instant, reply: Message | None, error: ErrorCode) -> None:
            if not error:
                self.added_partitions.update(dict.fromkeys(new))
            on_done(later, error)

        self._request(
            now, request, _add_partitions_error, on_response, version_max=self._version_max(AddPartitionsToTxnRequest)
        )

    def end(self, now: Instant, on_done: OnDone, *, commit: bool) -> None:
        """Commit or abort; `on_done` is called before the markers are written. Without partitions nothing is sent."""
        self.enter(State.COMMITTING if commit else State.ABORTING)
        version_max = self._version_max(EndTxnRequest)
        if not self.bumps_epoch and self._may_bump_epoch():
            # The next transaction needs another epoch: its leaders might take late batches of this one as part of it.
            self.bumps_epoch = self._needs_new_epoch = True

        def on_response(later: Instant, reply: Message | None, error: ErrorCode) -> None:
            if error:
                self._set_error(error)
                on_done(later, error)
                return
            if isinstance(reply, EndTxnResponse) and reply.producer_id >= 0:
                self.producer_id, self.epoch = reply.producer_id, reply.producer_epoch
            if self._needs_new_epoch:
                self.init(later, on_done)
            else:
                self.enter(State.READY)
                on_done(later, error)

        if not self.added_partitions:
            on_response(now, None, ErrorCode.NONE)
            return
        request = EndTxnRequest(
            transactional_id=self.transactional_id or "",
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )
        self._request(now, request, _end_error, on_response, version_max=version_max)

    def fail_transaction(self, error: ErrorCode, *, needs_new_epoch: bool) -> None:
        """Record that a batch failed: the transaction can only be aborted, and the producer may need a new epoch.

        The first error stays the transaction's error, unless a later one says that the producer is fenced.
        """
        self._needs_new_epoch = self._needs_new_epoch or (needs_new_epoch and not self.bumps_epoch)
        if error is ErrorCode.PRODUCER_FENCED or self.state in PREDECESSORS[State.ABORTABLE_ERROR]:
            if error is ErrorCode.PRODUCER_FENCED or self.state is not State.ABORTABLE_ERROR:
                self.error = error
            self.enter(State.FATAL_ERROR if error is ErrorCode.PRODUCER_FENCED else State.ABORTABLE_ERROR)

    def _set_error(self, error: ErrorCode) -> None:
        self.error = error
        abortable = error in ABORTABLE and self.state in PREDECESSORS[State.ABORTABLE_ERROR]
        self.enter(State.ABORTABLE_ERROR if abortable else State.FATAL_ERROR)

    def _may_bump_epoch(self) -> bool:
        """Return whether the cluster's transaction.version is 2 or above, as far as its brokers have reported."""
        return (
            self.transactional_id is not None and self._cluster.features.get(TRANSACTION_VERSION, 0) >= EPOCH_BUMPS_FROM
        )

    def _version_max(self, request: type[Message]) -> int | None:
        return None if self.bumps_epoch else TRANSACTIONS_V1_LAST.get(request.NAME)

    # -- requests -----------------------------------------------------------------------------

    def on_timer(self, now: Instant) -> None:
        """Send the first request in the queue again, after a pause."""
        self._send(now)

    def _request(
        self,
        now: Instant,
        body: Message,
        error_of: Callable[[Message], ErrorCode],
        on_done: Callable[[Instant, Message | None, ErrorCode], None],
        *,
        version_max: int | None = None,
    ) -> None:
        self._pending.append(
            _PendingRequest(body, error_of, on_done, now + self._max_block_ms * MILLISECOND, version_max)
        )
        if len(self._pending) == 1:
            self._send(now)

    def _send(self, now: Instant) -> None:
        if self._is_sending or not self._pending:
            return
        pending = self._pending[0]
        endpoint = self._coordinator if self.transactional_id is not None else self._cluster.any_broker()
        self._is_sending = True
        if endpoint is None:
            self._find_coordinator(now)
            return

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._is_sending = False
            error = ErrorCode.NETWORK_EXCEPTION if reply is None else pending.error_of(reply)
            if reply is None or error in LOST_COORDINATOR:
                self._coordinator = None
            if error.retriable:
                self._retry(later, error)
            else:
                self._end(later, reply, error)

        self._cluster.send(now, endpoint, "coordinator", pending.body, on_reply, version_max=pending.version_max)

    def _find_coordinator(self, now: Instant) -> None:
        request = FindCoordinatorRequest(
            key_type=CoordinatorType.TRANSACTION, coordinator_keys=[self.transactional_id or ""]
        )

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._is_sending = False
            row = reply.coordinators[0] if isinstance(reply, FindCoordinatorResponse) and reply.coordinators else None
            error = ErrorCode.NETWORK_EXCEPTION if row is None else code_of(row.error_code)
            if row is not None and not error:
                self._coordinator = Endpoint(row.host, row.port)
                self._send(later)
            elif error.retriable:
                self._retry(later, error)
            else:
                self._end(later, None, error)

        self._cluster.send(now, self._cluster.any_broker(), "coordinator", request, on_reply, version_min=FIND_BY_KEYS)

    def _retry(self, now: Instant, error: ErrorCode) -> None:
        pending = self._pending[0]
        retry_at = now + self._backoff.pause_ms(pending.attempts) * MILLISECOND
        pending.attempts += 1
        if retry_at >= pending.until:
            self._end(now, None, ErrorCode.REQUEST_TIMED_OUT)
        else:
            self._outbox.set_timer(self.timer, retry_at)

    def _end(self, now: Instant, reply: Message | None, error: ErrorCode) -> None:
        pending = self._pending.popleft()
        if error and error is not ErrorCode.REQUEST_TIMED_OUT and not isinstance(pending.body, EndTxnRequest):
            self._set_error(error)
        pending.on_done(now, reply, error)
        self._send(now)


def _init_error(reply: Message) -> ErrorCode:
    assert isinstance(reply, InitProducerIdResponse), reply
    if not reply.error_code and (reply.producer_id < 0 or reply.producer_epoch < 0):
        return ErrorCode.NETWORK_EXCEPTION  # No broker intends that: treat it like a lost response.
    return code_of(reply.error_code)


def _end_error(reply: Message) -> ErrorCode:
    assert isinstance(reply, EndTxnResponse), reply
    return code_of(reply.error_code)


def _add_partitions_error(reply: Message) -> ErrorCode:
    """Return one error of an AddPartitionsToTxn response: one that is not retriable if there is any."""
    assert isinstance(reply, AddPartitionsToTxnResponse), reply
    codes = [row.partition_error_code for t in reply.results_by_topic_v3_and_below for row in t.results_by_partition]
    errors = [code_of(code) for code in codes if code]
    # OPERATION_NOT_ATTEMPTED only means that another partition has an error.
    causes = [error for error in errors if error is not ErrorCode.OPERATION_NOT_ATTEMPTED]
    final = [error for error in causes if not error.retriable]
    return (final or causes or [ErrorCode.NONE])[0]
