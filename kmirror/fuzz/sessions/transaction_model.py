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
        return next((writer for writer in self.writers if writer.producer == producer), None)

    def with_writer(self, writer: Writer) -> Log:
        """Return the log with a changed state of a producer id."""
        others = tuple(other for other in self.writers if other.producer != writer.producer)
        return replace(self, writers=tuple(sorted((*others, writer), key=lambda each: each.producer)))

    @property
    def committed_values(self) -> tuple[str, ...]:
        """Return the values for a reader of committed records, which end at the first open transaction."""
        values = []
        for _, value, status in self.records:
            if status == OPEN:
                break
            if status == COMMITTED:
                values.append(value)
        return tuple(values)


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
    bumps_epoch: bool
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
        committed = [offset for offset in self.offsets if offset.partition == partition and offset.producer is None]
        return max(committed, key=lambda offset: offset.order).offset if committed else -1


# -- the coordinator ----------------------------------------------------------------------------


def init_producer_id(state: State, name: str, call: int, epoch: int | None, *, has_id: bool) -> tuple[State, ErrorCode]:
    """Return state and error after InitProducerId; `epoch` is None for a client that names neither id nor epoch."""
    transaction = state.transaction(name)
    if transaction.producer is None:
        return state.with_transaction(name, Transaction(Symbol(call, "producer id"))), ErrorCode.NONE
    if epoch is not None and not has_id:
        return state, ErrorCode.PRODUCER_FENCED
    if transaction.status == ENDING:
        return state, ErrorCode.CONCURRENT_TRANSACTIONS
    if transaction.status == ONGOING:
        previous_epoch = transaction.epoch if state.bumps_epoch else -1
        fenced = replace(
            transaction, status=ENDING, is_commit=False, epoch=transaction.epoch + 1, previous_epoch=previous_epoch
        )
        return state.with_transaction(name, fenced), ErrorCode.CONCURRENT_TRANSACTIONS
    if epoch is None or epoch == transaction.epoch:
        after = Transaction(transaction.producer, transaction.epoch + 1, -1 if epoch is None else epoch)
    elif epoch == transaction.previous_epoch >= 0:
        after = Transaction(transaction.producer, transaction.epoch, epoch)
    else:
        return state, ErrorCode.PRODUCER_FENCED
    return state.with_transaction(name, after), ErrorCode.NONE


def owner_error(transaction: Transaction, producer: Symbol | None, epoch: int) -> ErrorCode:
    """Return the error if a producer does not own a transactional id, or NONE."""
    if transaction.producer is None or transaction.producer != producer:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return ErrorCode.NONE if transaction.epoch == epoch else ErrorCode.PRODUCER_FENCED


def add_partitions(
    state: State, name: str, producer: Symbol | None, epoch: int, partitions: frozenset[str]
) -> tuple[State, ErrorCode]:
    """Return state and error after partitions were added to a transaction, which may begin one."""
    transaction = state.transaction(name)
    error = owner_error(transaction, producer, epoch)
    if not error and transaction.status == ENDING:
        error = ErrorCode.CONCURRENT_TRANSACTIONS
    if error:
        return state, error
    earlier = transaction.partitions if transaction.status == ONGOING else frozenset()
    return state.with_transaction(name, replace(transaction, status=ONGOING, partitions=earlier | partitions)), error


def end_transaction(
    state: State, name: str, producer: Symbol | None, epoch: int, *, is_commit: bool, bumps_epoch: bool
) -> tuple[State, ErrorCode]:
    """Return state and error after EndTxn; `bumps_epoch` means that the epoch is raised, as from version 5 on."""
    transaction = state.transaction(name)
    if not bumps_epoch:
        error = owner_error(transaction, producer, epoch)
        if error:
            return state, error
        if transaction.status == ONGOING:
            return state.with_transaction(
                name, replace(transaction, status=ENDING, is_commit=is_commit)
            ), ErrorCode.NONE
        is_same = transaction.is_commit == is_commit
        if transaction.status == ENDED and is_same:
            return state, ErrorCode.NONE
        is_waiting = transaction.status == ENDING and is_same
        return state, ErrorCode.CONCURRENT_TRANSACTIONS if is_waiting else ErrorCode.INVALID_TXN_STATE
    if transaction.producer is None or transaction.producer != producer:
        return state, ErrorCode.INVALID_PRODUCER_ID_MAPPING
    end_error = _bumped_end_error(transaction, epoch, is_commit=is_commit)
    if end_error is not None:
        return state, end_error
    partitions = transaction.partitions if transaction.status == ONGOING else frozenset()
    after = Transaction(transaction.producer, epoch + 1, epoch, ENDING, is_commit, partitions)
    return state.with_transaction(name, after), ErrorCode.NONE


def _bumped_end_error(transaction: Transaction, epoch: int, *, is_commit: bool) -> ErrorCode | None:
    """Return the error code of an EndTxn that ends nothing, None for one that ends a transaction."""
    is_repeated, is_same = transaction.epoch == epoch + 1, transaction.is_commit == is_commit
    if transaction.status == ENDING:
        if not is_repeated:
            return ErrorCode.PRODUCER_FENCED
        return ErrorCode.CONCURRENT_TRANSACTIONS if is_same else ErrorCode.INVALID_TXN_STATE
    if transaction.status == ENDED and is_repeated:
        return ErrorCode.NONE if is_same else ErrorCode.INVALID_TXN_STATE
    if transaction.epoch != epoch:
        return ErrorCode.PRODUCER_FENCED
    # Without a partition only an abort is valid: a batch that was given up may still arrive.
    return ErrorCode.INVALID_TXN_STATE if transaction.status != ONGOING and is_commit else None


def autonomous_changes(state: State) -> Iterator[State]:
    """Yield the next autonomous changes: a marker is written, or the end of a transaction is complete."""
    for name, transaction in state.transactions:
        if transaction.status != ENDING:
            continue
        if not transaction.partitions:
            yield state.with_transaction(name, replace(transaction, status=ENDED))
        for partition in sorted(transaction.partitions):
            marked = _write_marker(state, transaction, partition)
            others = transaction.partitions - {partition}
            yield marked.with_transaction(name, replace(transaction, partitions=others))


def _write_marker(state: State, transaction: Transaction, partition: str) -> State:
    """Return the state after a partition got the marker of a transaction."""
    log = state.log(partition)
    producer = transaction.producer
    assert producer is not None, "it has begun"
    status = COMMITTED if transaction.is_commit else ABORTED
    records = tuple(
        (owner, value, status if owner == producer and old_status == OPEN else old_status)
        for owner, value, old_status in log.records
    )
    writer = log.writer(producer)
    sequences = writer.sequences if writer is not None and writer.epoch == transaction.epoch else ()
    after = state.with_log(replace(log, records=records).with_writer(Writer(producer, transaction.epoch, sequences)))
    if partition != GROUP:
        return after
    offsets = []
    for offset in state.offsets:
        if offset.producer != producer:
            offsets.append(offset)
        elif transaction.is_commit:
            offsets.append(replace(offset, producer=None))
    return replace(after, offsets=tuple(offsets))


# -- partitions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """A write of a producer: one record, or offsets of the group."""

    name: str
    """The transactional id."""
    log: str
    producer: Symbol | None
    epoch: int
    adds_partition: bool
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
        if not error and batch.adds_partition and batch.sequence > 0 and (writer is None or not writer.sequences):
            error = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if error:
            return state, error
    assert producer is not None, "it owns the transaction"
    return _append(state, log, batch, writer or Writer(producer, -1), producer)


def _verify(state: State, batch: Batch) -> tuple[State, ErrorCode]:
    if batch.adds_partition:
        state, error = add_partitions(state, batch.name, batch.producer, batch.epoch, frozenset({batch.log}))
    else:
        transaction = state.transaction(batch.name)
        error = owner_error(transaction, batch.producer, batch.epoch)
        if not error and transaction.status == ENDING:
            error = ErrorCode.CONCURRENT_TRANSACTIONS
        if not error and (transaction.status != ONGOING or batch.log not in transaction.partitions):
            error = ErrorCode.TRANSACTION_ABORTABLE
    return state, ErrorCode.INVALID_PRODUCER_EPOCH if error is ErrorCode.PRODUCER_FENCED else error


def _append(state: State, log: Log, batch: Batch, writer: Writer, producer: Symbol) -> tuple[State, ErrorCode]:
    if batch.log == GROUP:
        added = tuple(Offset(p, state.order, offset, producer) for p, offset in batch.offsets)
        replaced_keys = {(producer, each.partition) for each in added}
        others = tuple(each for each in state.offsets if (each.producer, each.partition) not in replaced_keys)
        state = replace(state, offsets=(*others, *added), order=state.order + 1)
        return state.with_log(log.with_writer(Writer(producer, batch.epoch, (), is_open=True))), ErrorCode.NONE
    is_same_epoch = writer.epoch == batch.epoch
    if is_same_epoch and batch.sequence in writer.sequences:
        return state, ErrorCode.NONE  # A duplicate.
    if is_same_epoch:
        is_next = batch.sequence == (writer.sequences[-1] + 1 if writer.sequences else 0)
    else:
        is_next = batch.sequence == 0 or writer.epoch == -1
    if not is_next:
        return state, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    sequences = (*(writer.sequences if is_same_epoch else ()), batch.sequence)[-_SEQUENCES_MAX:]
    after = log.with_writer(Writer(producer, batch.epoch, sequences, is_open=True))
    return state.with_log(replace(after, records=(*log.records, (producer, batch.value, OPEN)))), ErrorCode.NONE
