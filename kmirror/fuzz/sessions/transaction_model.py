"""Model of transactions in a broker: the transactional ids, and the partitions that they write to.

The end of a transaction is decided first (ENDING); then each partition gets a marker, in any order, and finally the end
is complete. With `transaction.version` 2 (KIP-890) the end raises the producer epoch, and the markers have that epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kmirror.fuzz.sessions.machine import Symbol
from kmirror.spec.error_codes import ErrorCode

EMPTY, ONGOING, ENDING, ENDED = "Empty", "Ongoing", "Ending", "Ended"
OPEN, COMMITTED, ABORTED = "open", "committed", "aborted"
GROUP = "group"
"""The partition of `__consumer_offsets` with the session's group."""
_SEQUENCES_MAX = 5
"""Number of batches whose sequence numbers a partition remembers."""


@dataclass(frozen=True)
class Transaction:
    """A transactional id in its coordinator."""

    producer: Symbol | None = None
    epoch: int = 0
    previous_epoch: int = -1
    """The epoch of a client that may not have received the response with the current one."""
    status: str = EMPTY
    is_commit: bool = False
    """In ENDING and ENDED."""
    partitions: frozenset[str] = frozenset()
    """In ENDING, those without a marker yet."""


@dataclass(frozen=True)
class Writer:
    """State of a producer id in a partition."""

    producer: Symbol
    epoch: int
    sequences: tuple[int, ...] = ()
    """The last sequence numbers of this epoch."""
    is_open: bool = False
    """Whether it has records without a marker."""


@dataclass(frozen=True)
class Log:
    """A partition."""

    name: str
    writers: tuple[Writer, ...] = ()
    records: tuple[tuple[Symbol, str, str], ...] = ()
    """PID, value, and OPEN, COMMITTED or ABORTED."""

    def writer(self, producer: Symbol) -> Writer | None:
        """Return the state of a producer id."""
        return next((one for one in self.writers if one.producer == producer), None)

    def with_writer(self, writer: Writer) -> Log:
        """Return the log with a changed state of a producer id."""
        others = tuple(one for one in self.writers if one.producer != writer.producer)
        return replace(self, writers=tuple(sorted((*others, writer), key=lambda one: one.producer)))

    @property
    def committed_values(self) -> tuple[str, ...]:
        """Return the values for a reader of committed records, which end at the first open transaction."""
        found = []
        for _, value, status in self.records:
            if status == OPEN:
                break
            if status == COMMITTED:
                found.append(value)
        return tuple(found)


@dataclass(frozen=True)
class Offset:
    """An offset committed in a transaction; of two the later one counts, regardless of the order of their markers."""

    partition: int
    order: int
    offset: int
    producer: Symbol | None = None
    """Producer of its transaction, until that has a marker."""


@dataclass(frozen=True)
class State:
    """State of a session: transactional ids by name, partitions by name, offsets of the group."""

    transactions: tuple[tuple[str, Transaction], ...]
    logs: tuple[tuple[str, Log], ...]
    bumps: bool
    """Whether the broker ends transactions by the rules of transaction.version 2."""
    offsets: tuple[Offset, ...] = ()
    order: int = 0

    def transaction(self, name: str) -> Transaction:
        """Return the state of a transactional id."""
        return dict(self.transactions)[name]

    def log(self, name: str) -> Log:
        """Return a partition."""
        return dict(self.logs)[name]

    def with_transaction(self, name: str, changed: Transaction) -> State:
        """Return the state with a changed transactional id."""
        rows = tuple((other, changed if other == name else kept) for other, kept in self.transactions)
        return replace(self, transactions=rows)

    def with_log(self, changed: Log) -> State:
        """Return the state with a changed partition."""
        rows = tuple((name, changed if name == changed.name else kept) for name, kept in self.logs)
        return replace(self, logs=rows)

    def committed_offset(self, partition: int) -> int:
        """Return the offset committed by the group, -1 for none."""
        found = [one for one in self.offsets if one.partition == partition and one.producer is None]
        return max(found, key=lambda one: one.order).offset if found else -1


# -- the coordinator ----------------------------------------------------------------------------


def init_producer_id(state: State, name: str, call: int, epoch: int | None, *, has_id: bool) -> tuple[State, ErrorCode]:
    """Return state and error after InitProducerId; `epoch` is None for a client that names neither id nor epoch."""
    known = state.transaction(name)
    if known.producer is None:
        return state.with_transaction(name, Transaction(Symbol(call, "producer id"))), ErrorCode.NONE
    if epoch is not None and not has_id:
        return state, ErrorCode.PRODUCER_FENCED
    if known.status == ENDING:
        return state, ErrorCode.CONCURRENT_TRANSACTIONS
    if known.status == ONGOING:
        previous_epoch = known.epoch if state.bumps else -1
        fenced = replace(known, status=ENDING, is_commit=False, epoch=known.epoch + 1, previous_epoch=previous_epoch)
        return state.with_transaction(name, fenced), ErrorCode.CONCURRENT_TRANSACTIONS
    if epoch is None or epoch == known.epoch:
        after = Transaction(known.producer, known.epoch + 1, -1 if epoch is None else epoch)
    elif epoch == known.previous_epoch >= 0:
        after = Transaction(known.producer, known.epoch, epoch)
    else:
        return state, ErrorCode.PRODUCER_FENCED
    return state.with_transaction(name, after), ErrorCode.NONE


def owner_error(known: Transaction, producer: Symbol | None, epoch: int) -> ErrorCode:
    """Return the error if a producer does not own a transactional id, or NONE."""
    if known.producer is None or known.producer != producer:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return ErrorCode.NONE if known.epoch == epoch else ErrorCode.PRODUCER_FENCED


def add_partitions(
    state: State, name: str, producer: Symbol | None, epoch: int, partitions: frozenset[str]
) -> tuple[State, ErrorCode]:
    """Return state and error after partitions were added to a transaction, which may begin one."""
    known = state.transaction(name)
    error = owner_error(known, producer, epoch)
    if not error and known.status == ENDING:
        error = ErrorCode.CONCURRENT_TRANSACTIONS
    if error:
        return state, error
    already = known.partitions if known.status == ONGOING else frozenset()
    return state.with_transaction(name, replace(known, status=ONGOING, partitions=already | partitions)), error


def end_transaction(
    state: State, name: str, producer: Symbol | None, epoch: int, *, is_commit: bool, bumps: bool
) -> tuple[State, ErrorCode]:
    """Return state and error after EndTxn; `bumps` means that the epoch is raised, as from version 5 on."""
    known = state.transaction(name)
    if not bumps:
        error = owner_error(known, producer, epoch)
        if error:
            return state, error
        if known.status == ONGOING:
            return state.with_transaction(name, replace(known, status=ENDING, is_commit=is_commit)), ErrorCode.NONE
        is_same = known.is_commit == is_commit
        if known.status == ENDED and is_same:
            return state, ErrorCode.NONE
        is_waiting = known.status == ENDING and is_same
        return state, ErrorCode.CONCURRENT_TRANSACTIONS if is_waiting else ErrorCode.INVALID_TXN_STATE
    if known.producer is None or known.producer != producer:
        return state, ErrorCode.INVALID_PRODUCER_ID_MAPPING
    response = _bumped_end_error(known, epoch, is_commit=is_commit)
    if response is not None:
        return state, response
    partitions = known.partitions if known.status == ONGOING else frozenset()
    after = Transaction(known.producer, epoch + 1, epoch, ENDING, is_commit, partitions)
    return state.with_transaction(name, after), ErrorCode.NONE


def _bumped_end_error(known: Transaction, epoch: int, *, is_commit: bool) -> ErrorCode | None:
    """Return the error code of an EndTxn that ends nothing, None for one that ends a transaction."""
    is_repeated, is_same = known.epoch == epoch + 1, known.is_commit == is_commit
    if known.status == ENDING:
        if not is_repeated:
            return ErrorCode.PRODUCER_FENCED
        return ErrorCode.CONCURRENT_TRANSACTIONS if is_same else ErrorCode.INVALID_TXN_STATE
    if known.status == ENDED and is_repeated:
        return ErrorCode.NONE if is_same else ErrorCode.INVALID_TXN_STATE
    if known.epoch != epoch:
        return ErrorCode.PRODUCER_FENCED
    # Without a partition only an abort is valid: a batch that was given up may still arrive.
    return ErrorCode.INVALID_TXN_STATE if known.status != ONGOING and is_commit else None


def autonomous_changes(state: State) -> Iterator[State]:
    """Yield the next autonomous changes: a marker is written, or the end of a transaction is complete."""
    for name, known in state.transactions:
        if known.status != ENDING:
            continue
        if not known.partitions:
            yield state.with_transaction(name, replace(known, status=ENDED))
        for partition in sorted(known.partitions):
            marked = _write_marker(state, known, partition)
            left = known.partitions - {partition}
            yield marked.with_transaction(name, replace(known, partitions=left))


def _write_marker(state: State, known: Transaction, partition: str) -> State:
    """Return the state after a partition got the marker of a transaction."""
    log = state.log(partition)
    producer = known.producer
    assert producer is not None, "it has begun"
    status = COMMITTED if known.is_commit else ABORTED
    records = tuple(
        (owner, value, status if owner == producer and old_status == OPEN else old_status)
        for owner, value, old_status in log.records
    )
    writer = log.writer(producer)
    sequences = writer.sequences if writer is not None and writer.epoch == known.epoch else ()
    after = state.with_log(replace(log, records=records).with_writer(Writer(producer, known.epoch, sequences)))
    if partition != GROUP:
        return after
    kept = []
    for one in state.offsets:
        if one.producer != producer:
            kept.append(one)
        elif known.is_commit:
            kept.append(replace(one, producer=None))
    return replace(after, offsets=tuple(kept))


# -- partitions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """A write of a producer: one record, or offsets of the group."""

    name: str
    """The transactional id."""
    log: str
    producer: Symbol | None
    epoch: int
    adds: bool
    """Whether the broker adds the partition to the transaction by itself (KIP-890 part 2)."""
    sequence: int = -1
    value: str = ""
    offsets: tuple[tuple[int, int], ...] = ()


def may_be_out_of_order(state: State, batch: Batch) -> bool:
    """Return whether the first batch of a transaction may be refused as out of order, although it is the next one.

    This is so while a batch with a lower sequence number was refused, which its producer may send again.
    """
    writer = None if batch.producer is None else state.log(batch.log).writer(batch.producer)
    is_open = writer is not None and writer.is_open and writer.epoch == batch.epoch
    return batch.sequence > 0 and not is_open


def write_batch(state: State, batch: Batch) -> tuple[State, ErrorCode]:
    """Return state and error after a batch is verified and appended; errors are the coordinator's or the log's."""
    log = state.log(batch.log)
    producer = batch.producer
    writer = None if producer is None else log.writer(producer)
    if writer is not None and batch.epoch < writer.epoch:
        return state, ErrorCode.INVALID_PRODUCER_EPOCH
    is_open = writer is not None and writer.is_open and writer.epoch == batch.epoch
    if not is_open:
        state, error = _verify(state, batch)
        if not error and batch.adds and batch.sequence > 0 and (writer is None or not writer.sequences):
            error = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if error:
            return state, error
    assert producer is not None, "it owns the transaction"
    return _append(state, log, batch, writer or Writer(producer, -1), producer)


def _verify(state: State, batch: Batch) -> tuple[State, ErrorCode]:
    if batch.adds:
        state, error = add_partitions(state, batch.name, batch.producer, batch.epoch, frozenset({batch.log}))
    else:
        known = state.transaction(batch.name)
        error = owner_error(known, batch.producer, batch.epoch)
        if not error and known.status == ENDING:
            error = ErrorCode.CONCURRENT_TRANSACTIONS
        if not error and (known.status != ONGOING or batch.log not in known.partitions):
            error = ErrorCode.TRANSACTION_ABORTABLE
    return state, ErrorCode.INVALID_PRODUCER_EPOCH if error is ErrorCode.PRODUCER_FENCED else error


def _append(state: State, log: Log, batch: Batch, writer: Writer, producer: Symbol) -> tuple[State, ErrorCode]:
    if batch.log == GROUP:
        new = tuple(Offset(p, state.order, offset, producer) for p, offset in batch.offsets)
        renewed = {(producer, one.partition) for one in new}
        older = tuple(one for one in state.offsets if (one.producer, one.partition) not in renewed)
        state = replace(state, offsets=(*older, *new), order=state.order + 1)
        return state.with_log(log.with_writer(Writer(producer, batch.epoch, (), is_open=True))), ErrorCode.NONE
    same = writer.epoch == batch.epoch
    if same and batch.sequence in writer.sequences:
        return state, ErrorCode.NONE  # A duplicate.
    if same:
        is_next = batch.sequence == (writer.sequences[-1] + 1 if writer.sequences else 0)
    else:
        is_next = batch.sequence == 0 or writer.epoch == -1
    if not is_next:
        return state, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    sequences = (*(writer.sequences if same else ()), batch.sequence)[-_SEQUENCES_MAX:]
    after = log.with_writer(Writer(producer, batch.epoch, sequences, is_open=True))
    return state.with_log(replace(after, records=(*log.records, (producer, batch.value, OPEN)))), ErrorCode.NONE
