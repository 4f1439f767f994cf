"""Script for the groups that one broker of the source coordinates: list them, fetch their offsets, commit them here.

A broker lists the groups that it coordinates, so their offsets are fetched from it at once. A deposed broker that does
not know it lists them, too: before anything is committed, the source's witnesses must name it as the group's
coordinator (D60). A group that moves meanwhile is synced in the next cycle, from its new coordinator; that is reported,
and is not an error. While a broker loads groups, Kafka up to 3.9 lists those that are loaded already, with an error,
and later releases list none. The committed offsets are fetched without RequireStable: with it, a group with an open
transaction would have none.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kmirror.client.list_offsets import list_offsets, offsets_in
from kmirror.client.remote_cluster import code_of
from kmirror.client.witnesses import NO_PROOF
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.commit_check import sync_client_id
from kmirror.mirror.state_records import PartitionState, StateKey
from kmirror.mirror.states import MirrorState
from kmirror.mirror.sync_errors import SyncKind
from kmirror.mirror.syncs import groups, offset_fetch
from kmirror.mirror.syncs.groups import EPOCH_UNKNOWN, LocalLog, LocalPartition, Offsets
from kmirror.mirror.syncs.mirror_view import MirrorView
from kmirror.mirror.syncs.report import Reports
from kmirror.mirror.syncs.rules import ListedGroup
from kmirror.mirror.syncs.scripts import BrokerRequest, ReadState, Script, ScriptRequest, SourceRequest
from kmirror.mirror.syncs.source_coordinators import coordinated_by
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_groups_response import ListGroupsResponse
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.protocol.gen.offset_commit_response import OffsetCommitResponse
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec

ACTIVE_GROUP_ERRORS = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
}
"""Errors of a coordinator for a commit without a member while the group has members, or commits at the same time."""

MOVING_GROUP_ERRORS = {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
"""Errors of a broker of the source while a group moves from or to another coordinator."""

T = TypeVar("T")
ScriptPart = Generator[Sequence[ScriptRequest], Sequence[Any], T]
"""A part of a script that returns a T."""
LeaderOf = Callable[[str], int | None]
"""Return the broker of this cluster that coordinates a group; None if there is none yet."""


class GroupSync:
    """One cycle for the groups of one broker of the source."""

    def __init__(
        self, view: MirrorView, reports: Reports, broker_id: int, endpoint: Endpoint, leader_of: LeaderOf
    ) -> None:
        self._view = view
        self._reports = reports
        self._broker_id = broker_id
        self._endpoint = endpoint
        self._leader_of = leader_of
        self._scope = f"groups of the source's broker {broker_id}"
        self.lacks_coordinator = False
        """True if some group had no coordinator here."""
        self._problems: dict[str, str] = {}
        self._left_out: dict[str, str] = {}

    def script(self) -> Script:
        """Commit here the offsets that the groups have committed there, and report the outcome."""
        group_ids = yield from self._list()
        source_offsets = yield from self._source_offsets(group_ids)
        if source_offsets:
            yield from self._commit(source_offsets)
        self._reports.report(SyncKind.GROUPS, self._scope, self._problems, self._left_out)

    def _commit(self, source_offsets: Mapping[str, Offsets]) -> ScriptPart[None]:
        view, topic_ids = self._view, self._topic_ids()
        synced = self._local_partitions(
            tp for offsets in source_offsets.values() for tp in offsets if tp.topic in topic_ids
        )
        local_offsets = yield from self._local_offsets(
            [group for group, offsets in source_offsets.items() if synced.keys() & offsets.keys()]
        )
        differing = groups.plan(source_offsets, local_offsets, synced, topic_ids)
        clamps = view.rules().clamps_offsets
        # A clamped offset differs from the source's: the log decides.
        confirmed = yield from self._confirmed(
            list(local_offsets) if clamps else [request.group_id for request in differing]
        )
        source_offsets = {group: source_offsets[group] for group in confirmed}
        # Even an offset equal to the source's may be outside the local log by now, if the log start has moved.
        candidates = list(synced) if clamps else _partitions_in(differing)
        mirroring = yield from self._mirroring(candidates)
        logs = (yield from self._logs(mirroring)) if clamps else None
        topic_ids = self._topic_ids()  # A topic may have been removed or paused since its states were read.
        local_partitions = self._local_partitions((tp for tp in mirroring if tp.topic in topic_ids), logs)
        requests = [
            (self._leader_of(r.group_id), r)
            for r in groups.plan(source_offsets, local_offsets, local_partitions, topic_ids)
        ]
        sendable = [(leader, request) for leader, request in requests if leader is not None]
        client_id = sync_client_id(view.context.broker.node_id, view.mirror)
        responses = yield [BrokerRequest(leader, request, client_id) for leader, request in sendable]
        for (_, request), response in zip(sendable, responses, strict=True):
            self._record_outcome(request, response)

    def _topic_ids(self) -> dict[str, Uuid]:
        return {
            topic.name: topic.local_topic.topic_id for topic in self._view.synced() if topic.local_topic is not None
        }

    def _local_partitions(
        self, tps: Iterable[TopicPartition], logs: Mapping[TopicPartition, LocalLog] | None = None
    ) -> dict[TopicPartition, LocalPartition]:
        """Return the local facts about these partitions, for those that exist here; with `logs`, for those in it."""
        image, found = self._view.context.broker.image, {}
        for tp in tps:
            partition = image.topics.partition(tp)
            if partition is not None and (logs is None or tp in logs):
                found[tp] = LocalPartition(partition.leader_epoch, None if logs is None else logs[tp])
        return found

    # -- the source -----------------------------------------------------------------------------

    def _list(self) -> ScriptPart[list[str]]:
        """Return the groups that the rules let through."""
        response = (yield [SourceRequest(ListGroupsRequest(), self._endpoint)])[0]
        if not isinstance(response, ListGroupsResponse):
            self._problems[self._scope] = f"ListGroups at {self._endpoint}: no response"
            return []
        if response.error_code:
            error = code_of(response.error_code)
            entries = self._left_out if error in MOVING_GROUP_ERRORS else self._problems
            entries[self._scope] = f"ListGroups at {self._endpoint}: {error.name}"
        rules = self._view.rules()
        group_ids = []
        for row in response.groups:
            verdict = rules.group(ListedGroup(row.group_id, row.protocol_type, row.group_type))
            if verdict.is_mirrored:
                group_ids.append(row.group_id)
            else:
                self._left_out[f"group {row.group_id}"] = verdict.rule
        return group_ids

    def _source_offsets(self, group_ids: Sequence[str]) -> ScriptPart[dict[str, Offsets]]:
        version = self._view.source.version(self._endpoint, OffsetFetchRequest) or 0
        fetches = offset_fetch.requests(group_ids, version)
        responses = yield [
            SourceRequest(fetch.request, self._endpoint, version_max=offset_fetch.NAMES_VERSION_MAX)
            for fetch in fetches
        ]
        source_offsets: dict[str, Offsets] = {}
        for fetch, response in zip(fetches, responses, strict=True):
            for group, (offsets, error) in offset_fetch.read(fetch, response, {}).items():
                if not error:
                    source_offsets[group] = offsets
                else:
                    entries = self._left_out if error in MOVING_GROUP_ERRORS else self._problems
                    entries[f"group {group}"] = f"the source returned {error.name} for OffsetFetch"
        return source_offsets

    def _confirmed(self, group_ids: Sequence[str]) -> ScriptPart[list[str]]:
        """Return the groups that the broker still coordinates, according to the witnesses; report the others."""
        if not group_ids:
            return []
        coordinated, are_valid = yield from coordinated_by(self._broker_id, group_ids, self._view.source)
        for group in group_ids:
            if not are_valid:
                self._problems[f"group {group}"] = NO_PROOF
            elif group not in coordinated:
                self._left_out[f"group {group}"] = f"broker {self._broker_id} of the source does not coordinate it now"
        return [group for group in group_ids if group in coordinated]

    # -- this cluster ---------------------------------------------------------------------------

    def _local_offsets(self, group_ids: Iterable[str]) -> ScriptPart[dict[str, Offsets]]:
        """Return the offsets that these groups have committed here, for those that have a coordinator."""
        by_leader: dict[int, list[str]] = {}
        for group in group_ids:
            leader = self._leader_of(group)
            if leader is None:
                self.lacks_coordinator = True
            else:
                by_leader.setdefault(leader, []).append(group)
        version = self._view.context.broker.version_of(OffsetFetchRequest())
        fetches = [
            (leader, fetch) for leader, batch in by_leader.items() for fetch in offset_fetch.requests(batch, version)
        ]
        responses = yield [BrokerRequest(leader, fetch.request) for leader, fetch in fetches]
        names = self._view.context.broker.image.topics.names
        local_offsets: dict[str, Offsets] = {}
        for (_, fetch), response in zip(fetches, responses, strict=True):
            for group, (offsets, error) in offset_fetch.read(fetch, response, names).items():
                if error:
                    self._problems[f"group {group}"] = f"its coordinator here returned {error.name} for OffsetFetch"
                else:
                    local_offsets[group] = offsets
        return local_offsets

    def _mirroring(self, tps: Sequence[TopicPartition]) -> ScriptPart[list[TopicPartition]]:
        """Return those partitions that are MIRRORING."""
        topic_ids = self._topic_ids()
        present = [tp for tp in tps if tp.topic in topic_ids]
        mirror = self._view.mirror
        states = yield [ReadState(StateKey(mirror, topic_ids[tp.topic], tp.partition), tp.topic) for tp in present]
        found = []
        for tp, known in zip(present, states, strict=True):
            if not isinstance(known, PartitionState):
                self._problems[f"offsets for {tp}"] = "the mirror's coordinator did not return its state"
            elif known.state is MirrorState.MIRRORING:
                found.append(tp)
        return found

    def _logs(self, tps: Iterable[TopicPartition]) -> ScriptPart[dict[TopicPartition, LocalLog]]:
        """Return the local log starts, and the ends after a stop, of partitions whose leader responds.

        A stop cuts at the last stable offset, and later writes begin there (D15).
        """
        image = self._view.context.broker.image
        by_leader: dict[int, list[TopicPartition]] = {}
        for tp in tps:
            partition = image.topics.partition(tp)
            if partition is not None:
                by_leader.setdefault(partition.leader, []).append(tp)
        responses = yield [
            BrokerRequest(
                leader, list_offsets(dict.fromkeys(batch, EPOCH_UNKNOWN), spec, IsolationLevel.READ_COMMITTED)
            )
            for leader, batch in by_leader.items()
            for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
        ]
        starts, ends = offsets_in(responses[::2]), offsets_in(responses[1::2])
        found: dict[TopicPartition, LocalLog] = {}
        for tp in (tp for batch in by_leader.values() for tp in batch):
            if tp in starts and tp in ends:
                found[tp] = LocalLog(starts[tp], max(starts[tp], ends[tp]))
            else:
                self._problems[f"offsets for {tp}"] = "its leader did not return the log start and end"
        return found

    def _record_outcome(self, request: OffsetCommitRequest, response: object) -> None:
        subject = f"group {request.group_id}"
        if not isinstance(response, OffsetCommitResponse):
            self._problems[subject] = "its coordinator here did not respond to OffsetCommit"
            return
        errors = {code_of(row.error_code) for topic in response.topics for row in topic.partitions if row.error_code}
        errors.discard(ErrorCode.TOPIC_NOT_IN_MIRROR)  # It was paused or removed while the commit was under way.
        if errors & ACTIVE_GROUP_ERRORS:
            self._left_out[subject] = "it is active in this cluster"
        elif errors:
            entries = ", ".join(sorted(error.name for error in errors))
            self._problems[subject] = f"its coordinator here returned {entries} for OffsetCommit"


def _partitions_in(requests: Iterable[OffsetCommitRequest]) -> list[TopicPartition]:
    """Return the partitions that the requests commit for, each once."""
    return list(
        dict.fromkeys(
            TopicPartition(topic.name, row.partition_index)
            for request in requests
            for topic in request.topics
            for row in topic.partitions
        )
    )
