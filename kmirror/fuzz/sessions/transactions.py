"""Rule machine of transactions: producers that share transactional ids, and a reader of committed records.

All clients of a session follow the rules of one `transaction.version`: 2 if the broker has it, otherwise the earlier
ones. Each batch has one record with a unique value, so that at the end each record is either visible or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.sessions import transaction_model as model
from kmirror.fuzz.sessions.links import SimulatedLink
from kmirror.fuzz.sessions.machine import Call, Choose, Expected, Names, Outcome, Rule, Step, World, expected
from kmirror.fuzz.sessions.preparing import TOPIC, await_coordinator, prepare_topic, simulated_broker
from kmirror.fuzz.sessions.transaction_model import GROUP, Batch, Log, State, Transaction
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.legacy import iter_any_batches
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM, TRANSACTION_VERSION
from kmirror.spec.wire_values import CoordinatorType, IsolationLevel

_PARTITIONS = (0, 1)
_TIMEOUT_MS = 600_000
_FENCED_FROM = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "AddOffsetsToTxn": 2, "EndTxn": 2}
"""First versions with PRODUCER_FENCED (KIP-588); earlier ones use INVALID_PRODUCER_EPOCH."""
_ABORTABLE_FROM = {"Produce": 11, "TxnOffsetCommit": 4}
"""First versions with TRANSACTION_ABORTABLE (KIP-890); earlier ones use INVALID_TXN_STATE."""
_VERSIONS = {
    # Before transaction.version 2, and with it.
    "InitProducerId": ((0, 5), (0, 5)),
    "Produce": ((3, 11), (12, 12)),
    "TxnOffsetCommit": ((0, 4), (5, 5)),
    "EndTxn": ((0, 4), (5, 5)),
    "AddPartitionsToTxn": ((0, 3), (0, 3)),
    "AddOffsetsToTxn": ((0, 3), (0, 3)),
}
_READ_VERSION = 11
_READ_BYTES = 1 << 22
_LAST_TRIES = 30


# -- knowledge of the clients -------------------------------------------------------------------


@dataclass
class Client:
    """A producer with a transactional id, which another one may have too."""

    name: str
    transactional_id: str
    producer_id: int = -1
    epoch: int = -1
    sequences: dict[int, int] | None = None
    """The next sequence number for each partition."""

    def begin(self, producer_id: int, epoch: int) -> None:
        """Continue with another epoch: sequence numbers begin at 0."""
        self.producer_id, self.epoch, self.sequences = producer_id, epoch, {}


@dataclass
class Knowledge:
    """Knowledge of all clients."""

    clients: list[Client]
    group: str
    bumps_epoch: bool
    """Whether they follow the rules of transaction.version 2."""
    topic: str
    count: int = 0
    """Number of records and offsets: each is written once."""
    ids_at_rest: frozenset[str] = frozenset()
    """Transactional ids initialised at the end, so that none of their transactions is open."""

    def next_number(self) -> int:
        """Return a unique number."""
        self.count += 1
        return self.count


def _draw_client(known: Knowledge, choose: Choose) -> Client | None:
    candidates = [one for one in known.clients if one.producer_id >= 0]
    return choose.pick(candidates) if candidates else None


def _draw_version(known: Knowledge, name: str, choose: Choose) -> int:
    low, high = _VERSIONS[name][known.bumps_epoch]
    return choose.pick(range(low, high + 1))


# -- rules --------------------------------------------------------------------------------------


def _init(known: Knowledge, choose: Choose) -> Step | None:
    client = choose.pick(known.clients)
    return _init_step(client.name, client.transactional_id, _draw_version(known, "InitProducerId", choose))


def _init_step(actor: str, transactional_id: str, version: int) -> Step:
    body = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=_TIMEOUT_MS)
    return Step(actor, body, version)


_OWN_EPOCH_FROM = 3


def _init_again(known: Knowledge, choose: Choose) -> Step | None:
    """Draw a client's request for the epoch after its own (KIP-360)."""
    client = _draw_client(known, choose)
    if client is None:
        return None
    version = choose.pick(range(_OWN_EPOCH_FROM, InitProducerIdRequest.MAX_VERSION))
    step = _init_step(client.name, client.transactional_id, version)
    assert isinstance(step.body, InitProducerIdRequest)
    step.body.producer_id, step.body.producer_epoch = client.producer_id, client.epoch
    return step


def _add(known: Knowledge, choose: Choose) -> Step | None:
    client = None if known.bumps_epoch else _draw_client(known, choose)
    if client is None:
        return None
    chosen = [index for index in _PARTITIONS if choose.chance(0.6)] or [0]
    body = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=client.transactional_id,
        v3_and_below_producer_id=client.producer_id,
        v3_and_below_producer_epoch=client.epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=known.topic, partitions=chosen)],
    )
    return Step(client.name, body, _draw_version(known, "AddPartitionsToTxn", choose))


def _add_offsets(known: Knowledge, choose: Choose) -> Step | None:
    client = None if known.bumps_epoch else _draw_client(known, choose)
    if client is None:
        return None
    body = AddOffsetsToTxnRequest(
        transactional_id=client.transactional_id,
        producer_id=client.producer_id,
        producer_epoch=client.epoch,
        group_id=known.group,
    )
    return Step(client.name, body, _draw_version(known, "AddOffsetsToTxn", choose))


def _produce(known: Knowledge, choose: Choose) -> Step | None:
    client = _draw_client(known, choose)
    if client is None:
        return None
    partition = choose.pick(_PARTITIONS)
    sequence = (client.sequences or {}).get(partition, 0)
    sequence = sequence + choose.pick((1, 2)) if choose.chance(0.06) else sequence
    value = f"{client.transactional_id} {known.next_number()}"
    batch = build_batch(
        [RecordData(None, value.encode(), (), 0)],
        producer_id=client.producer_id,
        producer_epoch=client.epoch,
        base_sequence=sequence,
        is_transactional=True,
    )
    data = TopicProduceData(name=known.topic, partition_data=[PartitionProduceData(index=partition, records=batch)])
    body = ProduceRequest(transactional_id=client.transactional_id, acks=-1, timeout_ms=5_000, topic_data=[data])
    return Step(client.name, body, _draw_version(known, "Produce", choose))


def _commit_offsets(known: Knowledge, choose: Choose) -> Step | None:
    client = _draw_client(known, choose)
    if client is None:
        return None
    rows = [
        TxnOffsetCommitRequestPartition(partition_index=choose.pick(_PARTITIONS), committed_offset=known.next_number())
    ]
    body = TxnOffsetCommitRequest(
        transactional_id=client.transactional_id,
        group_id=known.group,
        producer_id=client.producer_id,
        producer_epoch=client.epoch,
        topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=rows)],
    )
    return Step(client.name, body, _draw_version(known, "TxnOffsetCommit", choose))


def _end(known: Knowledge, choose: Choose) -> Step | None:
    client = _draw_client(known, choose)
    if client is None:
        return None
    body = EndTxnRequest(
        transactional_id=client.transactional_id,
        producer_id=client.producer_id,
        producer_epoch=client.epoch,
        committed=choose.chance(0.6),
    )
    return Step(client.name, body, _draw_version(known, "EndTxn", choose))


def _read(known: Knowledge, choose: Choose) -> Step | None:
    return _read_step(known, choose.pick(_PARTITIONS))


def _read_step(known: Knowledge, partition: int) -> Step:
    row = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=_READ_BYTES)
    body = FetchRequest(
        max_wait_ms=0,
        max_bytes=_READ_BYTES,
        isolation_level=IsolationLevel.READ_COMMITTED,
        topics=[FetchTopic(topic=known.topic, partitions=[row])],
        session_epoch=-1,
    )
    return Step("reader", body, _READ_VERSION)


def _fetch_offsets(known: Knowledge, choose: Choose) -> Step | None:
    return _offsets_step(known)


def _offsets_step(known: Knowledge) -> Step:
    topics = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=list(_PARTITIONS))]
    return Step("reader", OffsetFetchRequest(group_id=known.group, topics=topics), 6)


RULES: tuple[Rule[Knowledge], ...] = (
    Rule("initialise", 5, _init),
    Rule("initialise again", 1, _init_again),
    Rule("add partitions", 7, _add),
    Rule("add offsets", 3, _add_offsets),
    Rule("produce", 12, _produce),
    Rule("commit offsets", 4, _commit_offsets),
    Rule("end", 7, _end),
    Rule("read committed", 2, _read),
    Rule("fetch offsets", 2, _fetch_offsets),
)


# -- the model ----------------------------------------------------------------------------------


def _versioned_error(step: Step, error: ErrorCode) -> ErrorCode:
    """Return the code for `error` in a response of the step's version: earlier versions lack some codes."""
    name, version = step.name, step.version
    if error is ErrorCode.PRODUCER_FENCED and version < _FENCED_FROM.get(name, 0):
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.TRANSACTION_ABORTABLE and version < _ABORTABLE_FROM.get(name, 0):
        return ErrorCode.INVALID_TXN_STATE
    if name == "Produce" and error is ErrorCode.CONCURRENT_TRANSACTIONS and version < _VERSIONS[name][True][0]:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return error


def _batch_of(body: ProduceRequest, names: Names, *, adds_partition: bool) -> Batch:
    row = body.topic_data[0].partition_data[0]
    assert row.records is not None, "there is a batch"
    (batch,) = iter_any_batches(row.records)
    (record,) = batch.records()
    producer = names.symbol(batch.producer_id)
    value = (record.value or b"").decode()
    log = str(row.index)
    return Batch(
        body.transactional_id or "", log, producer, batch.producer_epoch, adds_partition, batch.base_sequence, value
    )


def _transitions(state: State, step: Step, call: int, names: Names) -> Iterator[tuple[State, dict[str, Any]]]:
    """Yield the possible outcomes of a request, with the values of its response."""
    body: Any = step.body
    match body:
        case InitProducerIdRequest():
            yield _init_transition(state, step, call, names)
            if state.transaction(body.transactional_id or "").producer is None:  # Ids may be used up.
                yield state, {"error": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "producer": -1, "epoch": -1}
        case AddPartitionsToTxnRequest():
            name, producer = body.v3_and_below_transactional_id, names.symbol(body.v3_and_below_producer_id)
            partitions = frozenset(str(index) for index in body.v3_and_below_topics[0].partitions)
            after, error = model.add_partitions(state, name, producer, body.v3_and_below_producer_epoch, partitions)
            yield after, {"rows_error": (_versioned_error(step, error),) * len(partitions)}
        case AddOffsetsToTxnRequest():
            producer = names.symbol(body.producer_id)
            after, error = model.add_partitions(
                state, body.transactional_id, producer, body.producer_epoch, frozenset({GROUP})
            )
            yield after, {"error": _versioned_error(step, error)}
        case ProduceRequest():
            batch = _batch_of(body, names, adds_partition=step.version >= _VERSIONS["Produce"][1][0])
            after, error = model.write_batch(state, batch)
            yield after, {"rows_error": (_versioned_error(step, error),)}
            if not error and model.may_be_out_of_order(state, batch):
                yield state, {"rows_error": (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,)}
        case TxnOffsetCommitRequest():
            offsets = tuple((row.partition_index, row.committed_offset) for row in body.topics[0].partitions)
            adds_partition, producer = (
                step.version >= _VERSIONS["TxnOffsetCommit"][1][0],
                names.symbol(body.producer_id),
            )
            batch = Batch(body.transactional_id, GROUP, producer, body.producer_epoch, adds_partition, offsets=offsets)
            after, error = model.write_batch(state, batch)
            yield after, {"rows_error": (_versioned_error(step, error),) * len(offsets)}
        case EndTxnRequest():
            yield _end_transition(state, step, body, names)
        case FetchRequest():
            log = state.log(str(body.topics[0].partitions[0].partition))
            yield state, {"error": ErrorCode.NONE, "values": log.committed_values}
        case OffsetFetchRequest():
            yield state, {"error": ErrorCode.NONE, "offsets": tuple(state.committed_offset(p) for p in _PARTITIONS)}
        case _:
            raise AssertionError(f"no rule sends {body.NAME}")


def _init_transition(state: State, step: Step, call: int, names: Names) -> tuple[State, dict[str, Any]]:
    body: Any = step.body
    name = body.transactional_id
    refused = {"producer": -1, "epoch": -1}
    if (body.producer_id == -1) != (body.producer_epoch == -1):
        return state, {"error": ErrorCode.INVALID_REQUEST, **refused}
    known = state.transaction(name)
    epoch = None if body.producer_id == -1 else body.producer_epoch
    has_id = names.symbol(body.producer_id) == known.producer
    after, error = model.init_producer_id(state, name, call, epoch, has_id=has_id)
    if error:
        return after, {"error": _versioned_error(step, error), **refused}
    current = after.transaction(name)
    return after, {"error": error, "producer": current.producer, "epoch": current.epoch}


def _end_transition(state: State, step: Step, body: EndTxnRequest, names: Names) -> tuple[State, dict[str, Any]]:
    name, producer = body.transactional_id, names.symbol(body.producer_id)
    bumps_epoch = step.version >= _VERSIONS["EndTxn"][1][0]
    after, error = model.end_transaction(
        state, name, producer, body.producer_epoch, is_commit=body.committed, bumps_epoch=bumps_epoch
    )
    values: dict[str, Any] = {"error": _versioned_error(step, error)}
    if bumps_epoch and not error:
        values |= {"producer": after.transaction(name).producer, "epoch": after.transaction(name).epoch}
    return after, values


_BUSY_ERRORS = {
    # Errors of a broker that is busy with another request of the same id; nothing was done.
    "InitProducerId": ("error", (ErrorCode.CONCURRENT_TRANSACTIONS,)),
    "AddPartitionsToTxn": ("rows_error", (ErrorCode.CONCURRENT_TRANSACTIONS,)),
    "AddOffsetsToTxn": ("error", (ErrorCode.CONCURRENT_TRANSACTIONS,)),
    "EndTxn": ("error", (ErrorCode.CONCURRENT_TRANSACTIONS,)),
    "Produce": (
        "rows_error",
        (
            ErrorCode.CONCURRENT_TRANSACTIONS,
            ErrorCode.NOT_ENOUGH_REPLICAS,
            ErrorCode.INVALID_TXN_STATE,
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            ErrorCode.INVALID_PRODUCER_EPOCH,
        ),
    ),
    "TxnOffsetCommit": (
        "rows_error",
        (
            ErrorCode.CONCURRENT_TRANSACTIONS,
            ErrorCode.INVALID_TXN_STATE,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode.INVALID_PRODUCER_EPOCH,
        ),
    ),
}


def _id_of(body: Any) -> str | None:
    found: str | None = getattr(body, "transactional_id", None) or getattr(body, "v3_and_below_transactional_id", None)
    return found


class TransactionMachine:
    """Two producers with one transactional id, and one with another."""

    name = "transactions"
    rules = RULES
    stale_fields = frozenset(
        {"producer_epoch", "v3_and_below_producer_epoch", "producer_id", "v3_and_below_producer_id"}
    )

    def begin(self, world: World) -> tuple[Knowledge, State]:
        """Return clients without a PID, and a topic without records."""
        topic, group = f"{world.prefix}-topic", f"{world.prefix}-group"
        ids = (f"{world.prefix}-x", f"{world.prefix}-y")
        prepare_topic(world, len(_PARTITIONS))
        prepare_topic(world, len(_PARTITIONS), topic)
        await_coordinator(world, CoordinatorType.GROUP, group)
        for name in ids:
            await_coordinator(world, CoordinatorType.TRANSACTION, name)
        clients = [Client("one", ids[0]), Client("two", ids[0]), Client("three", ids[1])]
        logs = tuple((name, Log(name)) for name in (*map(str, _PARTITIONS), GROUP))
        bumps_epoch = _has_transactions_v2(world)
        return Knowledge(clients, group, bumps_epoch, topic), State(
            tuple((name, Transaction()) for name in ids), logs, bumps_epoch
        )

    def outcomes(self, state: State, call: Call, names: Names) -> Iterable[Outcome[State]]:
        """Yield the possible outcomes of a request."""
        step = call.step
        assert isinstance(step, Step), "no rule of this machine is a pause"
        for after, values in _transitions(state, step, call.number, names):
            yield Outcome(after, {call.number: expected(**values)})
            if step.name in _BUSY_ERRORS and _is_busy(state, call):
                yield from _busy_outcomes(state, after, call.number, step, values)

    def autonomous_outcomes(self, state: State) -> Iterable[Outcome[State]]:
        """Yield the next marker, or the completion of an end."""
        for after in model.autonomous_changes(state):
            yield Outcome(after, {})

    def read(self, known: Knowledge, step: Step, response: Message) -> Mapping[str, Any]:
        """Return the compared values of a response."""
        return _read_values(step, response)

    def learn(self, known: Knowledge, step: Step, response: Message) -> None:
        """Record the epoch of a client, and its accepted batches."""
        found: Any = response
        body: Any = step.body
        if step.actor == "last" and isinstance(body, InitProducerIdRequest) and not found.error_code:
            known.ids_at_rest |= {body.transactional_id or ""}
        client = next((one for one in known.clients if one.name == step.actor), None)
        if client is None:
            return
        renews_epoch = isinstance(body, InitProducerIdRequest) or (
            isinstance(body, EndTxnRequest) and known.bumps_epoch
        )
        if renews_epoch and not found.error_code:
            client.begin(found.producer_id, found.producer_epoch)
        elif isinstance(body, ProduceRequest) and not found.responses[0].partition_responses[0].error_code:
            row = body.topic_data[0].partition_data[0]
            (batch,) = iter_any_batches(row.records or b"")
            if batch.producer_epoch == client.epoch and client.sequences is not None:
                client.sequences[row.index] = batch.base_sequence + 1

    def last_steps(self, known: Knowledge) -> Iterator[Step]:
        """Yield requests that end all transactions, then a read of everything committed."""
        for name in sorted({one.transactional_id for one in known.clients}):
            for _ in range(_LAST_TRIES):
                if name not in known.ids_at_rest:
                    yield _init_step("last", name, 4)
            if name not in known.ids_at_rest:
                text = f"no producer id for {name} after {_LAST_TRIES} requests: its transaction does not end"
                raise Fault(FaultKind.SILENT, text, "transactions: no end", "an end of the transaction")
        for partition in _PARTITIONS:
            yield _read_step(known, partition)
        yield _offsets_step(known)


def _is_busy(state: State, call: Call) -> bool:
    """Return whether the coordinator may be busy with another request of the same id."""
    name = _id_of(call.step.body) if isinstance(call.step, Step) else None
    if state.transaction(name or "").status == model.ENDING:
        return True
    return any(isinstance(other.step, Step) and _id_of(other.step.body) == name for other in call.others)


def _busy_outcomes(
    state: State, after: State, call: int, step: Step, values: dict[str, Any]
) -> Iterator[Outcome[State]]:
    """Yield the refusals of a busy broker: nothing was done, or only the partition was added."""
    name, errors = _BUSY_ERRORS[step.name]
    for error in errors:
        refusal = Expected(((name, (error,) * len(values[name]) if name == "rows_error" else error),))
        yield Outcome(state, {call: refusal})
        if name == "rows_error" and after.transactions != state.transactions:
            yield Outcome(replace(state, transactions=after.transactions), {call: refusal})


def _has_transactions_v2(world: World) -> bool:
    """Return whether the broker has transaction.version 2."""
    found: Any = world.ask(ApiVersionsRequest(client_software_name="kmirror", client_software_version="1"), 3)
    levels = {row.name: row.max_version_level for row in found.finalized_features}
    return bool(levels.get(TRANSACTION_VERSION, 0) >= EPOCH_BUMPS_FROM)


def _read_values(step: Step, response: Any) -> Mapping[str, Any]:
    match step.body:
        case InitProducerIdRequest() | EndTxnRequest():
            return {"error": response.error_code, "producer": response.producer_id, "epoch": response.producer_epoch}
        case AddPartitionsToTxnRequest():
            rows = (row for topic in response.results_by_topic_v3_and_below for row in topic.results_by_partition)
            return {"rows_error": tuple(row.partition_error_code for row in rows)}
        case ProduceRequest():
            return {
                "rows_error": tuple(row.error_code for one in response.responses for row in one.partition_responses)
            }
        case TxnOffsetCommitRequest():
            return {"rows_error": tuple(row.error_code for topic in response.topics for row in topic.partitions)}
        case FetchRequest():
            row = response.responses[0].partitions[0]
            return {"error": row.error_code, "values": _committed_values(row)}
        case OffsetFetchRequest():
            found = {row.partition_index: row.committed_offset for topic in response.topics for row in topic.partitions}
            return {"error": response.error_code, "offsets": tuple(found.get(p) for p in _PARTITIONS)}
        case _:
            return {"error": response.error_code}


def _committed_values(row: Any) -> tuple[str, ...]:
    """Return the values that a consumer of committed records returns, by the list of aborted transactions."""
    begins = sorted((one.first_offset, one.producer_id) for one in row.aborted_transactions or ())
    aborted: set[int] = set()
    found = []
    for batch in iter_any_batches(bytes(row.records or b"")):
        while begins and begins[0][0] <= batch.last_offset:
            aborted.add(begins.pop(0)[1])
        if batch.is_control:
            aborted.discard(batch.producer_id)
        elif batch.producer_id not in aborted:
            found += [(record.value or b"").decode() for record in batch.records()]
    return tuple(found)


MACHINE = TransactionMachine()


def open_simulated_link(seed: int, choose: Choose) -> SimulatedLink:
    """Return a kmirror broker with a transaction coordinator, for one of the transaction versions."""
    return simulated_broker(seed, {}, transaction_version=choose.pick((2, 0, 2, 1)))
