"""Allowed responses in a session of the machine `mirrors`, for each request, by the model of `mirror_model.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kmirror.fuzz.sessions.machine import ANYTHING, OneOf, Step, Symbol, expected
from kmirror.fuzz.sessions.mirror_model import (
    RESET,
    Batch,
    ClusterState,
    Content,
    Pair,
    Wish,
    add_topic,
    apply_order,
    contents,
    end_of,
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
from kmirror.records.batch import Batch as RecordBatch
from kmirror.spec.error_codes import ErrorCode

NO_ROW = None
_FINAL_STATES = ("PAUSED", "STOPPED")
"""States in which a log does not change, so that each possible content is followed."""


def stored_batch(step: Step, base: int) -> Batch:
    """Return the batch of a Produce as stored in a log at offset `base`."""
    request = step.body
    assert isinstance(request, ProduceRequest)
    batch = RecordBatch(bytes(request.topic_data[0].partition_data[0].records or b""))
    return Batch(base, batch.record_count, batch.crc)


def _codes(*errors: ErrorCode) -> OneOf:
    return OneOf(frozenset(map(int, errors)))


_NOT_LEADER_ERRORS = _codes(
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.LEADER_NOT_AVAILABLE,
)
"""Errors for a fetch from a broker that does not lead the topic, or does not know the HW yet (D30)."""
_TEMPORARY_ERRORS = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)


Responses = Iterator[tuple[Pair, Any]]


def _create_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, CreateMirrorRequest)
    cluster_name = step.broker[0]
    cluster, name = pair.cluster(cluster_name), request.mirror_name
    if name.endswith(".paused"):
        yield pair, expected(error=int(ErrorCode.INVALID_MIRROR_NAME))
    elif name in cluster.mirrors:
        yield pair, expected(error=int(ErrorCode.MIRROR_ALREADY_EXISTS))
    elif not request.config:
        yield pair, expected(error=int(ErrorCode.INVALID_CONFIG))
    else:
        yield pair.put(cluster_name, replace(cluster, mirrors=cluster.mirrors | {name})), expected(error=0)


def _add_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, AddTopicsToMirrorRequest)
    cluster_name = step.broker[0]
    cluster, topic_id = pair.cluster(cluster_name), request.topics[0].topic_id
    if cluster.wish is Wish.REMOVE:
        if cluster.states - {"UNKNOWN", "STOPPED"}:
            yield pair, expected(error=int(ErrorCode.INVALID_REQUEST), rows_error=())
        yield pair, expected(error=int(ErrorCode.COORDINATOR_NOT_AVAILABLE), rows_error=())
    if request.mirror_name not in cluster.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), rows_error=())
        return
    is_other = topic_id == Uuid.from_ints(7, 7)
    if is_other and cluster.exists is not False:
        yield pair, expected(error=0, rows_error=(int(ErrorCode.INCONSISTENT_TOPIC_ID),))
        if cluster.exists:
            return
    if cluster.wish in (Wish.MIRROR, Wish.PAUSE):
        yield pair, expected(error=0, rows_error=(int(ErrorCode.TOPIC_ALREADY_IN_MIRROR),))
        return
    for after in add_topic(pair, cluster_name):
        yield after, expected(error=0, rows_error=(0,))


def _order_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, PauseMirrorTopicsRequest | ResumeMirrorTopicsRequest | RemoveTopicsFromMirrorRequest)
    cluster_name = step.broker[0]
    if request.mirror_name not in pair.cluster(cluster_name).mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), rows_error=())
        return
    for error, after in apply_order(pair, cluster_name, step.name):
        yield pair.put(cluster_name, after), expected(error=0, rows_error=(error,))


def _delete_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, DeleteMirrorRequest)
    cluster_name = step.broker[0]
    cluster = pair.cluster(cluster_name)
    if request.mirror_name not in cluster.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
        return
    yield pair, expected(error=int(ErrorCode.COORDINATOR_NOT_AVAILABLE))
    if cluster.wish is not None and (
        cluster.wish is not Wish.REMOVE or cluster.states != {"STOPPED"} or not cluster.is_order_known
    ):
        yield pair, expected(error=int(ErrorCode.MIRROR_NOT_EMPTY))
    without_mirror = replace(cluster, mirrors=cluster.mirrors - {request.mirror_name}, was_deleted=True)
    if cluster.wish is None:
        yield pair.put(cluster_name, without_mirror), expected(error=0)
    elif cluster.wish is Wish.REMOVE and "STOPPED" in cluster.states:
        stopped = pair.put(cluster_name, replace(without_mirror, states=frozenset({"STOPPED"})))
        for content, found in contents(stopped, cluster_name):
            after = replace(found.cluster(cluster_name), wish=None, states=frozenset(), log=content, is_log_known=True)
            yield found.put(cluster_name, after), expected(error=0)


def _alter_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, IncrementalAlterConfigsRequest)
    resource = request.resources[0]
    if resource.resource_name not in pair.cluster(step.broker[0]).mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
    else:
        is_invalid = resource.configs[0].value == "perhaps"
        yield pair, expected(error=int(ErrorCode.INVALID_CONFIG) if is_invalid else 0)


def _describe_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, DescribeMirrorsRequest)
    (name,) = request.mirror_names or ("",)
    cluster_name = step.broker[0]
    cluster = pair.cluster(cluster_name)
    if name not in cluster.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), row=NO_ROW)
        if cluster.was_deleted:  # The broker has not applied the deletion yet.
            yield pair, expected(error=0)
        return
    key = (step.broker, name)
    if key not in cluster.described:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), row=NO_ROW)
        cluster = replace(cluster, described=cluster.described | {key})
        pair = pair.put(cluster_name, cluster)
    if cluster.wish is None:
        yield pair, expected(error=0) if cluster.was_deleted else expected(error=0, row=NO_ROW)
        return
    yield pair, expected(error=0, row=NO_ROW)
    for state in sorted(cluster.states):
        in_state = replace(cluster, states=frozenset({state}), is_read_only=True, exists=True)
        in_state = replace(
            in_state, is_order_known=in_state.is_order_known or state in ("PAUSED", "STOPPING", "STOPPED")
        )
        known = pair.put(cluster_name, in_state)
        if state not in _FINAL_STATES:
            ends = frozenset((state, end_of(content)) for content, _ in contents(known, cluster_name))
            yield known, expected(error=0, row=OneOf(ends))
            continue
        for content, found in contents(known, cluster_name):
            after = found.cluster(cluster_name)
            is_paused = after.is_paused or (state == "PAUSED" and after.wish is Wish.PAUSE)
            row = expected(error=0, row=(state, end_of(content)), last_mirrored=_last_mirrored(after, content, state))
            yield found.put(cluster_name, replace(after, is_paused=is_paused)), row
    ends = frozenset(("UNKNOWN", end_of(content)) for content, _ in contents(pair, cluster_name))
    yield _with_topic(pair, cluster_name), expected(error=0, row=OneOf(ends))  # The leader has not read the state.


def _last_mirrored(cluster: ClusterState, content: Content, state: str) -> Any:
    """Return the epoch of the last batch before the producer reset, for a stop of a session that mirrored (D10)."""
    resets = [index for index, batch in enumerate(content) if batch.crc == RESET]
    is_exact = state == "STOPPED" and cluster.has_mirrored and not cluster.has_own_log and not cluster.is_mixed
    return _epoch(content[resets[-1] - 1]) if is_exact and resets and resets[-1] else ANYTHING


def _epoch(batch: Batch) -> Any:
    """Return the leader epoch of a batch as a symbol: the same in each log and each response."""
    return ANYTHING if batch.crc == RESET else Symbol(batch.base, f"epoch of {batch.crc}", is_unique=False)


def _with_topic(pair: Pair, cluster_name: str) -> Pair:
    return pair.put(cluster_name, replace(pair.cluster(cluster_name), exists=True))


def _read_responses(pair: Pair, step: Step) -> Responses:
    cluster = pair.cluster(step.broker[0])
    states = set(cluster.states) if cluster.wish is not None else {"UNKNOWN"}
    if cluster.was_deleted or cluster.wish is None:
        states |= {"UNKNOWN", "STOPPED"}
    if "UNKNOWN" in states:
        yield pair, expected(error=0, state="UNKNOWN", has_epoch=False)
    # Each write names the leader epoch, and none replaces the write of a later leader (D9).
    epoch_check = {} if cluster.was_deleted else {"has_fallen": False}
    yield pair, expected(error=0, state=OneOf(frozenset(states - {"UNKNOWN"})), has_epoch=True, **epoch_check)
    yield pair, expected(error=_codes(*_TEMPORARY_ERRORS))
    if cluster.exists is not True or cluster.wish is None:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))


def _write_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, WriteMirrorStatesRequest)
    topic = request.topics[0]
    cluster, row = pair.cluster(step.broker[0]), topic.partitions[0]
    yield pair, expected(error=_codes(*_TEMPORARY_ERRORS))
    if row.state == WRONG_STATE:
        yield pair, expected(error=int(ErrorCode.INVALID_REQUEST))
        return
    if topic.topic_id == Uuid.from_ints(7, 7) or cluster.exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_ID))
        if cluster.exists is True or topic.topic_id == Uuid.from_ints(7, 7):
            return
    if request.mirror_name not in cluster.mirrors or (step.broker, request.mirror_name) not in cluster.described:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
        if request.mirror_name not in cluster.mirrors and not cluster.was_deleted:
            return
    yield pair, expected(error=int(ErrorCode.FENCED_LEADER_EPOCH))
    if cluster.was_deleted:  # No persisted state is left that could fence the write.
        yield pair, expected(error=_codes(ErrorCode.NONE, ErrorCode.INVALID_REQUEST))


def _bump_responses(pair: Pair, step: Step) -> Responses:
    request = step.body
    assert isinstance(request, BumpLeaderEpochsRequest)
    topic = request.topics[0]
    exists = pair.cluster(step.broker[0]).exists
    if topic.topic_id == Uuid.from_ints(7, 7) or exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_ID))
    if topic.topic_id != Uuid.from_ints(7, 7) and exists is not False:
        is_high = topic.partitions[0].min_leader_epoch == EPOCH_TOO_HIGH
        yield pair, expected(error=int(ErrorCode.INVALID_REQUEST) if is_high else 0)


def _partitions_responses(pair: Pair, step: Step) -> Responses:
    cluster = pair.cluster(step.broker[0])
    if cluster.exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    if cluster.exists is not False:
        is_read_only = cluster.wish in (Wish.MIRROR, Wish.PAUSE)
        yield pair, expected(error=int(ErrorCode.READ_ONLY_TOPIC if is_read_only else ErrorCode.INVALID_PARTITIONS))


def _produce_responses(pair: Pair, step: Step) -> Responses:
    cluster_name = step.broker[0]
    cluster = pair.cluster(cluster_name)
    yield pair, expected(error=int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    if cluster.exists is not True or (cluster.wish is not None and not cluster.is_read_only):
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if cluster.exists is False:
            return
    may_write = (
        cluster.wish is None
        or (cluster.wish is Wish.REMOVE and "STOPPED" in cluster.states)
        or not cluster.is_read_only
    )
    if cluster.wish is not None and (
        cluster.wish is not Wish.REMOVE or cluster.states != {"STOPPED"} or not cluster.is_order_known
    ):
        read_only = replace(cluster, is_read_only=True, exists=True)
        if cluster.wish is Wish.REMOVE:
            read_only = replace(
                read_only, states=cluster.states - {"STOPPED"} if cluster.is_order_known else cluster.states
            )
        yield pair.put(cluster_name, read_only), expected(error=int(ErrorCode.READ_ONLY_TOPIC))
    if not may_write:
        return
    if cluster.wish is Wish.REMOVE:
        cluster = replace(cluster, states=frozenset({"STOPPED"}))
    for content, found in contents(pair.put(cluster_name, cluster), cluster_name):
        if cluster.wish not in (None, Wish.REMOVE) and content != cluster.log:
            continue  # The leader does not know of the mirror yet, so nothing was truncated.
        base = end_of(content)
        after = replace(found.cluster(cluster_name), exists=True, log=(*content, stored_batch(step, base)))
        if cluster.wish is Wish.REMOVE:
            after = replace(after, is_log_known=True)
        yield found.put(cluster_name, after), expected(error=0, base=base)


def _fetch_responses(pair: Pair, step: Step) -> Responses:
    cluster_name = step.broker[0]
    cluster = pair.cluster(cluster_name)
    yield (
        pair,
        expected(
            error=_NOT_LEADER_ERRORS
            if cluster.wish is not None or not cluster.exists
            else int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        ),
    )
    if cluster.exists is False:
        return
    for content, found in contents(pair, cluster_name):
        epochs = tuple(map(_epoch, content))
        yield _with_topic(found, cluster_name), expected(error=0, batches=content, epochs=epochs, has_changed=False)


RESPONSES: Mapping[type[Message], Callable[[Pair, Step], Responses]] = {
    CreateMirrorRequest: _create_responses,
    AddTopicsToMirrorRequest: _add_responses,
    PauseMirrorTopicsRequest: _order_responses,
    ResumeMirrorTopicsRequest: _order_responses,
    RemoveTopicsFromMirrorRequest: _order_responses,
    DeleteMirrorRequest: _delete_responses,
    IncrementalAlterConfigsRequest: _alter_responses,
    DescribeMirrorsRequest: _describe_responses,
    ReadMirrorStatesRequest: _read_responses,
    WriteMirrorStatesRequest: _write_responses,
    BumpLeaderEpochsRequest: _bump_responses,
    CreatePartitionsRequest: _partitions_responses,
    ProduceRequest: _produce_responses,
    FetchRequest: _fetch_responses,
}
