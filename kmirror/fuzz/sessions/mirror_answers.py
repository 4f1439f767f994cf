"""Allowed responses in a session of the machine `mirrors`, for each request, by the model of `mirror_model.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kmirror.fuzz.sessions.machine import ANYTHING, OneOf, Step, Symbol, expected
from kmirror.fuzz.sessions.mirror_model import (
    RESET,
    Batch,
    Content,
    Pair,
    Side,
    Wish,
    added,
    contents,
    end_of,
    ordered,
)
from kmirror.fuzz.sessions.mirror_requests import EPOCH_TOO_HIGH, WRONG_STATE
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.incremental_alter_configs_request import (
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.message import Message
from kmirror.records.batch import Batch as Found
from kmirror.spec.error_codes import ErrorCode

NO_ROW = None
_RESTING = ("PAUSED", "STOPPED")
"""States in which a log does not change, so that each possible content is followed."""


def produced(step: Step, base: int) -> Batch:
    """Return the batch of a Produce as stored in a log at offset `base`."""
    request = step.body
    assert isinstance(request, ProduceRequest)
    batch = Found(bytes(request.topic_data[0].partition_data[0].records or b""))
    return Batch(base, batch.record_count, batch.crc)


def _codes(*errors: ErrorCode) -> OneOf:
    return OneOf(frozenset(map(int, errors)))


_NOT_HERE = _codes(
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.LEADER_NOT_AVAILABLE,
)
"""Errors for a fetch from a broker that does not lead the topic, or does not know the HW yet (D30)."""
_LATER = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)


Answers = Iterator[tuple[Pair, Any]]


def _create_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, CreateMirrorRequest)
    cluster = step.at[0]
    side, name = pair.side(cluster), request.mirror_name
    if name.endswith(".paused"):
        yield pair, expected(error=int(ErrorCode.INVALID_MIRROR_NAME))
    elif name in side.mirrors:
        yield pair, expected(error=int(ErrorCode.MIRROR_ALREADY_EXISTS))
    elif not request.config:
        yield pair, expected(error=int(ErrorCode.INVALID_CONFIG))
    else:
        yield pair.put(cluster, replace(side, mirrors=side.mirrors | {name})), expected(error=0)


def _add_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, AddTopicsToMirrorRequest)
    cluster = step.at[0]
    side, topic_id = pair.side(cluster), request.topics[0].topic_id
    if side.wish is Wish.REMOVE:
        if side.states - {"UNKNOWN", "STOPPED"}:
            yield pair, expected(error=int(ErrorCode.INVALID_REQUEST), rows_error=())
        yield pair, expected(error=int(ErrorCode.COORDINATOR_NOT_AVAILABLE), rows_error=())
    if request.mirror_name not in side.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), rows_error=())
        return
    is_other = topic_id == Uuid.from_ints(7, 7)
    if is_other and side.exists is not False:
        yield pair, expected(error=0, rows_error=(int(ErrorCode.INCONSISTENT_TOPIC_ID),))
        if side.exists:
            return
    if side.wish in (Wish.MIRROR, Wish.PAUSE):
        yield pair, expected(error=0, rows_error=(int(ErrorCode.TOPIC_ALREADY_IN_MIRROR),))
        return
    for after in added(pair, cluster):
        yield after, expected(error=0, rows_error=(0,))


def _order_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, PauseMirrorTopicsRequest | ResumeMirrorTopicsRequest | RemoveTopicsFromMirrorRequest)
    cluster = step.at[0]
    if request.mirror_name not in pair.side(cluster).mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), rows_error=())
        return
    for error, after in ordered(pair, cluster, step.name):
        yield pair.put(cluster, after), expected(error=0, rows_error=(error,))


def _delete_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, DeleteMirrorRequest)
    cluster = step.at[0]
    side = pair.side(cluster)
    if request.mirror_name not in side.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
        return
    yield pair, expected(error=int(ErrorCode.COORDINATOR_NOT_AVAILABLE))
    if side.wish is not None and (side.wish is not Wish.REMOVE or side.states != {"STOPPED"} or not side.is_heard):
        yield pair, expected(error=int(ErrorCode.MIRROR_NOT_EMPTY))
    gone = replace(side, mirrors=side.mirrors - {request.mirror_name}, was_deleted=True)
    if side.wish is None:
        yield pair.put(cluster, gone), expected(error=0)
    elif side.wish is Wish.REMOVE and "STOPPED" in side.states:
        stopped = pair.put(cluster, replace(gone, states=frozenset({"STOPPED"})))
        for content, found in contents(stopped, cluster):
            after = replace(found.side(cluster), wish=None, states=frozenset(), log=content, is_settled=True)
            yield found.put(cluster, after), expected(error=0)


def _alter_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, IncrementalAlterConfigsRequest)
    resource = request.resources[0]
    if resource.resource_name not in pair.side(step.at[0]).mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
    else:
        is_wrong = resource.configs[0].value == "perhaps"
        yield pair, expected(error=int(ErrorCode.INVALID_CONFIG) if is_wrong else 0)


def _describe_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, DescribeMirrorsRequest)
    (name,) = request.mirror_names or ("",)
    cluster = step.at[0]
    side = pair.side(cluster)
    if name not in side.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), row=NO_ROW)
        if side.was_deleted:  # The broker has not applied the deletion yet.
            yield pair, expected(error=0)
        return
    place = (step.at, name)
    if place not in side.described:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), row=NO_ROW)
        side = replace(side, described=side.described | {place})
        pair = pair.put(cluster, side)
    if side.wish is None:
        yield pair, expected(error=0) if side.was_deleted else expected(error=0, row=NO_ROW)
        return
    yield pair, expected(error=0, row=NO_ROW)
    for state in sorted(side.states):
        at_state = replace(side, states=frozenset({state}), is_closed=True, exists=True)
        at_state = replace(at_state, is_heard=at_state.is_heard or state in ("PAUSED", "STOPPING", "STOPPED"))
        there = pair.put(cluster, at_state)
        if state not in _RESTING:
            ends = frozenset((state, end_of(content)) for content, _ in contents(there, cluster))
            yield there, expected(error=0, row=OneOf(ends))
            continue
        for content, found in contents(there, cluster):
            after = found.side(cluster)
            is_still = after.is_still or (state == "PAUSED" and after.wish is Wish.PAUSE)
            row = expected(error=0, row=(state, end_of(content)), last_mirrored=_last_mirrored(after, content, state))
            yield found.put(cluster, replace(after, is_still=is_still)), row
    ends = frozenset(("UNKNOWN", end_of(content)) for content, _ in contents(pair, cluster))
    yield _seen(pair, cluster), expected(error=0, row=OneOf(ends))  # The leader has not read the state.


def _last_mirrored(side: Side, content: Content, state: str) -> Any:
    """Return the epoch of the last batch before the producer reset, for a stop of a session that mirrored (D10)."""
    resets = [place for place, batch in enumerate(content) if batch.crc == RESET]
    is_exact = state == "STOPPED" and side.was_fed and not side.has_own and not side.is_mixed
    return _epoch(content[resets[-1] - 1]) if is_exact and resets and resets[-1] else ANYTHING


def _epoch(batch: Batch) -> Any:
    """Return the leader epoch of a batch as a symbol: the same in each log and each response."""
    return ANYTHING if batch.crc == RESET else Symbol(batch.base, f"epoch of {batch.crc}", is_unique=False)


def _seen(pair: Pair, cluster: str) -> Pair:
    return pair.put(cluster, replace(pair.side(cluster), exists=True))


def _read_answers(pair: Pair, step: Step) -> Answers:
    side = pair.side(step.at[0])
    states = set(side.states) if side.wish is not None else {"UNKNOWN"}
    if side.was_deleted or side.wish is None:
        states |= {"UNKNOWN", "STOPPED"}
    if "UNKNOWN" in states:
        yield pair, expected(error=0, state="UNKNOWN", has_epoch=False)
    # Each write names the leader epoch, and none replaces the write of a later leader (D9).
    fallen = {} if side.was_deleted else {"has_fallen": False}
    yield pair, expected(error=0, state=OneOf(frozenset(states - {"UNKNOWN"})), has_epoch=True, **fallen)
    yield pair, expected(error=_codes(*_LATER))
    if side.exists is not True or side.wish is None:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))


def _write_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, WriteMirrorStatesRequest)
    topic = request.topics[0]
    side, row = pair.side(step.at[0]), topic.partitions[0]
    yield pair, expected(error=_codes(*_LATER))
    if row.state == WRONG_STATE:
        yield pair, expected(error=int(ErrorCode.INVALID_REQUEST))
        return
    if topic.topic_id == Uuid.from_ints(7, 7) or side.exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_ID))
        if side.exists is True or topic.topic_id == Uuid.from_ints(7, 7):
            return
    if request.mirror_name not in side.mirrors or (step.at, request.mirror_name) not in side.described:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
        if request.mirror_name not in side.mirrors and not side.was_deleted:
            return
    yield pair, expected(error=int(ErrorCode.FENCED_LEADER_EPOCH))
    if side.was_deleted:  # No persisted state is left that could fence the write.
        yield pair, expected(error=_codes(ErrorCode.NONE, ErrorCode.INVALID_REQUEST))


def _bump_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, BumpLeaderEpochsRequest)
    topic = request.topics[0]
    exists = pair.side(step.at[0]).exists
    if topic.topic_id == Uuid.from_ints(7, 7) or exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_ID))
    if topic.topic_id != Uuid.from_ints(7, 7) and exists is not False:
        is_high = topic.partitions[0].min_leader_epoch == EPOCH_TOO_HIGH
        yield pair, expected(error=int(ErrorCode.INVALID_REQUEST) if is_high else 0)


def _partitions_answers(pair: Pair, step: Step) -> Answers:
    side = pair.side(step.at[0])
    if side.exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    if side.exists is not False:
        is_closed = side.wish in (Wish.MIRROR, Wish.PAUSE)
        yield pair, expected(error=int(ErrorCode.READ_ONLY_TOPIC if is_closed else ErrorCode.INVALID_PARTITIONS))


def _produce_answers(pair: Pair, step: Step) -> Answers:
    cluster = step.at[0]
    side = pair.side(cluster)
    yield pair, expected(error=int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    if side.exists is not True or (side.wish is not None and not side.is_closed):
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if side.exists is False:
            return
    may_write = side.wish is None or (side.wish is Wish.REMOVE and "STOPPED" in side.states) or not side.is_closed
    if side.wish is not None and (side.wish is not Wish.REMOVE or side.states != {"STOPPED"} or not side.is_heard):
        closed_now = replace(side, is_closed=True, exists=True)
        if side.wish is Wish.REMOVE:
            closed_now = replace(closed_now, states=side.states - {"STOPPED"} if side.is_heard else side.states)
        yield pair.put(cluster, closed_now), expected(error=int(ErrorCode.READ_ONLY_TOPIC))
    if not may_write:
        return
    if side.wish is Wish.REMOVE:
        side = replace(side, states=frozenset({"STOPPED"}))
    for content, found in contents(pair.put(cluster, side), cluster):
        if side.wish not in (None, Wish.REMOVE) and content != side.log:
            continue  # The leader does not know of the mirror yet, so nothing was truncated.
        base = end_of(content)
        after = replace(found.side(cluster), exists=True, log=(*content, produced(step, base)))
        if side.wish is Wish.REMOVE:
            after = replace(after, is_settled=True)
        yield found.put(cluster, after), expected(error=0, base=base)


def _fetch_answers(pair: Pair, step: Step) -> Answers:
    cluster = step.at[0]
    side = pair.side(cluster)
    yield pair, expected(error=_NOT_HERE if side.wish is not None or not side.exists else _not_led())
    if side.exists is False:
        return
    for content, found in contents(pair, cluster):
        epochs = tuple(map(_epoch, content))
        yield _seen(found, cluster), expected(error=0, batches=content, epochs=epochs, has_changed=False)


def _not_led() -> int:
    return int(ErrorCode.NOT_LEADER_OR_FOLLOWER)


ANSWERS: Mapping[type[Message], Callable[[Pair, Step], Answers]] = {
    CreateMirrorRequest: _create_answers,
    AddTopicsToMirrorRequest: _add_answers,
    PauseMirrorTopicsRequest: _order_answers,
    ResumeMirrorTopicsRequest: _order_answers,
    RemoveTopicsFromMirrorRequest: _order_answers,
    DeleteMirrorRequest: _delete_answers,
    IncrementalAlterConfigsRequest: _alter_answers,
    DescribeMirrorsRequest: _describe_answers,
    ReadMirrorStatesRequest: _read_answers,
    WriteMirrorStatesRequest: _write_answers,
    BumpLeaderEpochsRequest: _bump_answers,
    CreatePartitionsRequest: _partitions_answers,
    ProduceRequest: _produce_answers,
    FetchRequest: _fetch_answers,
}
