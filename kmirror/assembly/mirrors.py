"""Requests about mirrors and the parsing of their responses, independent of the runner.

This module sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kmirror.client.remote_cluster import code_of
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import BOOTSTRAP_SERVERS
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen import add_topics_to_mirror_request as adding
from kmirror.protocol.gen import pause_mirror_topics_request as pausing
from kmirror.protocol.gen import remove_topics_from_mirror_request as removing
from kmirror.protocol.gen import resume_mirror_topics_request as resuming
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.delete_mirror_response import DeleteMirrorResponse
from kmirror.protocol.gen.describe_mirrors_response import DescribedMirror, DescribeMirrorsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.gen.pause_mirror_topics_response import PauseMirrorTopicsResponse
from kmirror.protocol.gen.remove_topics_from_mirror_response import RemoveTopicsFromMirrorResponse
from kmirror.protocol.gen.resume_mirror_topics_response import ResumeMirrorTopicsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp, ResourceType

WITHIN_S = 120.0
"""Default timeout of operations on a mirror, in seconds."""
DESCRIBE_EVERY_S = 0.5
"""Interval between descriptions of a mirror, in seconds.

A mirror that no broker knows is described twice, as all brokers may be behind: the controller has just created it, and
each broker fetches metadata again 0.1 s after it lost the controller.
"""
ROWS_PER_S = 20_000
"""Maximum number of rows to describe per second.

A mirror with more rows than fit into DESCRIBE_EVERY_S is described less often, so that this is not its main load.
"""
_VERBS: Mapping[type[Message], tuple[str, str]] = {
    CreateMirrorRequest: ("create", ""),
    DeleteMirrorRequest: ("delete", ""),
    IncrementalAlterConfigsRequest: ("alter", ""),
    adding.AddTopicsToMirrorRequest: ("add topics to", "add topic {} to"),
    removing.RemoveTopicsFromMirrorRequest: ("remove topics from", "remove topic {} from"),
    pausing.PauseMirrorTopicsRequest: ("pause topics of", "pause topic {} of"),
    resuming.ResumeMirrorTopicsRequest: ("resume topics of", "resume topic {} of"),
}
"""Request class -> verb for messages, about the mirror and about one topic."""
# The awaited event after each request, for messages.
CREATED = "mirror {} to be created"
ADDED = "topics to be added to mirror {}"
REMOVED = "topics to be removed from mirror {}"
PAUSED = "topics of mirror {} to be paused"
RESUMED = "topics of mirror {} to be resumed"
DELETED = "mirror {} to be deleted"
ALTERED = "mirror {} to be altered"
DESCRIBED = "mirror {} to be described"
FAILOVER = "the failover of mirror {}"


NOT_REPORTED = "no broker reports it: it has no leader, or its leader does not respond"
"""The reason in the row of a partition that no broker describes."""


@dataclass(frozen=True, slots=True)
class MirrorRow:
    """The row of one partition in DescribeMirrors; -1 if a number is unknown."""

    tp: TopicPartition
    source_offset: int
    destination_offset: int
    lag: int
    state: MirrorState
    last_mirrored_epoch: int
    reason: str = ""
    """Why the partition waits or has failed (D38)."""
    leader_epoch: int = -1
    """Leader epoch in which the responding broker leads; -1 if it does not report it."""


@dataclass(frozen=True, slots=True)
class MirrorListing:
    """The row of one mirror in ListMirrors."""

    name: str
    source_servers: str
    """`bootstrap.servers` of the mirror."""
    source_cluster_id: str
    """Empty until the source has been seen with a topic of the mirror."""
    topic_count: int
    """Number of topics in the mirror, including removed ones."""
    warning: str = ""
    """The states that cannot be read or written; empty if all can."""


@dataclass(slots=True)
class Description:
    """The description of one mirror, merged from the responses of all brokers."""

    partitions: dict[TopicPartition, MirrorRow] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    """Names of the topics in the mirror, as an ordered set; includes topics that do not exist yet."""
    refusal: ErrorCode = ErrorCode.NONE
    """Why no broker describes the mirror; NONE if at least one does, as the others may be behind."""
    is_described: bool = False
    reasons: dict[int, str] = field(default_factory=dict)
    """Broker id -> why it cannot communicate with the source. Brokers that can, or have not tried, are missing."""
    warnings: dict[str, None] = field(default_factory=dict)
    """Warnings of brokers, as an ordered set."""
    unreported: dict[TopicPartition, MirrorRow] = field(default_factory=dict)
    """Rows of the partitions that no broker has described; `add_unreported` fills it."""

    @property
    def rows(self) -> list[MirrorRow]:
        """The partitions that brokers lead, and those that no broker reports, sorted."""
        rows = self.partitions | self.unreported
        return [rows[tp] for tp in sorted(rows)]

    @property
    def topics(self) -> list[str]:
        """The names of all topics in the mirror, sorted."""
        return sorted(self.names)

    @property
    def topics_without_rows(self) -> list[str]:
        """The names of topics that do not exist yet, sorted."""
        existing = {row.tp.topic for row in self.rows}
        return [name for name in self.topics if name not in existing]

    @property
    def undescribed_topics(self) -> list[str]:
        """The names of topics without a described partition, sorted."""
        described = {tp.topic for tp in self.partitions}
        return [name for name in self.topics if name not in described]

    @property
    def reason(self) -> str:
        """Why brokers cannot communicate with the source, and their ids; empty if all can."""
        brokers: dict[str, list[int]] = {}
        for broker_id, reason in sorted(self.reasons.items()):
            brokers.setdefault(reason, []).append(broker_id)
        return "; ".join(
            f"{reason} (broker{'s' * (len(ids) > 1)} {', '.join(map(str, ids))})" for reason, ids in brokers.items()
        )

    @property
    def warning(self) -> str:
        """Warnings for the operator that do not stop any partition; empty if there are none."""
        return "; ".join(self.warnings)

    def only(self, is_wanted: Callable[[str], bool]) -> Description:
        """Return the description of only those topics whose names are wanted."""
        partitions, unreported = (
            {tp: row for tp, row in rows.items() if is_wanted(tp.topic)} for rows in (self.partitions, self.unreported)
        )
        names = {name: None for name in self.names if is_wanted(name)}
        return replace(self, partitions=partitions, unreported=unreported, names=names)

    def add(self, broker_id: int, mirror: DescribedMirror) -> None:
        """Merge the response of one broker."""
        if mirror.error_code:
            self.refusal = ErrorCode.NONE if self.is_described else code_of(mirror.error_code)
            return
        self.is_described, self.refusal = True, ErrorCode.NONE
        keep_newest(self.partitions, mirror)
        self.names.update((topic.topic_name, None) for topic in mirror.topics)
        if mirror.reason:
            self.reasons[broker_id] = mirror.reason
        if mirror.warning:
            self.warnings[mirror.warning] = None

    def add_unreported(self, partitions: Iterable[TopicPartition]) -> None:
        """Add a row for each of these partitions that is in the mirror and that no broker has described."""
        for tp in partitions:
            if tp.topic in self.names and tp not in self.partitions:
                self.unreported[tp] = MirrorRow(tp, -1, -1, -1, MirrorState.UNKNOWN, -1, NOT_REPORTED)


@dataclass(frozen=True, slots=True)
class Goal:
    """The state that a caller waits for."""

    state: MirrorState
    partitions: Collection[TopicPartition]
    caught_up: bool = False
    """Whether the whole ISR must also have all records below the source's last stable offset."""

    def __str__(self) -> str:
        return f"reach {self.state.name}{', caught up' * self.caught_up}"

    @staticmethod
    def for_partitions(
        mirror: str, state: MirrorState, partitions: Iterable[TopicPartition], *, caught_up: bool
    ) -> Goal:
        """Return the caller's goal; UsageError if it has no partitions."""
        arguments.member("state", state, MirrorState)
        if not (tps := tuple(dict.fromkeys(arguments.partitions(partitions)))):
            raise UsageError(f"mirror {mirror}: name at least one partition to wait for")
        return Goal(state, tps, caught_up=caught_up)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between two logs of a partition."""

    tp: TopicPartition
    offset: int
    field: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.tp} offset {self.offset} field {self.field}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True)
class RequestError:
    """A change that a cluster rejected."""

    error: ErrorCode
    message: str
    topic: str | None = None
    """None if the error is about the mirror."""


# -- requests ---------------------------------------------------------------------------------


def create_request(mirror: str, servers: str | None, configs: Mapping[str, str] | None) -> CreateMirrorRequest:
    """Return the request to create a mirror of the cluster at `servers`, unless `configs` specify other servers.

    UsageError if neither does, and for values of other types.
    """
    values = {BOOTSTRAP_SERVERS: servers or "", **({} if configs is None else arguments.configs(configs))}
    if servers is None and not values[BOOTSTRAP_SERVERS]:
        raise UsageError(f"mirror {mirror}: configs need {BOOTSTRAP_SERVERS}, because no source is given")
    return CreateMirrorRequest(mirror, [MirrorConfig(name, value) for name, value in values.items()])


def add_topics_request(mirror: str, topics: Mapping[str, Uuid]) -> Message:
    """Return the request to add topics, each with its id at the source; zeros if unknown."""
    return adding.AddTopicsToMirrorRequest(mirror, [adding.TopicData(topics[name], name) for name in topics])


def remove_topics_request(mirror: str, topics: Iterable[str]) -> Message:
    """Return the request to remove topics by name, with any ids."""
    return removing.RemoveTopicsFromMirrorRequest(mirror, [removing.TopicData(Uuid.ZERO, name) for name in topics])


def pause_topics_request(mirror: str, topics: Iterable[str]) -> Message:
    """Return the request to pause topics by name, with any ids."""
    return pausing.PauseMirrorTopicsRequest(mirror, [pausing.TopicData(Uuid.ZERO, name) for name in topics])


def resume_topics_request(mirror: str, topics: Iterable[str]) -> Message:
    """Return the request to resume paused topics by name, with any ids."""
    return resuming.ResumeMirrorTopicsRequest(mirror, [resuming.TopicData(Uuid.ZERO, name) for name in topics])


def delete_request(mirror: str) -> DeleteMirrorRequest:
    """Return the request to delete a mirror."""
    return DeleteMirrorRequest(mirror_name=mirror)


def alter_request(mirror: str, configs: Mapping[str, str | None]) -> IncrementalAlterConfigsRequest:
    """Return the request to set configs of a mirror; None restores the default. UsageError for other types."""
    changes = [
        AlterableConfig(name, ConfigOp.DELETE if value is None else ConfigOp.SET, value)
        for name, value in arguments.changes(configs).items()
    ]
    return IncrementalAlterConfigsRequest([AlterConfigsResource(ResourceType.MIRROR, mirror, changes)])


# -- responses --------------------------------------------------------------------------------


def errors_in(reply: Message) -> Iterator[RequestError]:
    """Yield the errors in the response to one of the requests above."""
    match reply:
        case IncrementalAlterConfigsResponse():
            for row in reply.responses:
                if row.error_code:
                    yield _request_error(row.error_code, row.error_message)
        case CreateMirrorResponse() | DeleteMirrorResponse():
            if reply.error_code:
                yield _request_error(reply.error_code, reply.error_message)
        case (
            AddTopicsToMirrorResponse()
            | RemoveTopicsFromMirrorResponse()
            | PauseMirrorTopicsResponse()
            | ResumeMirrorTopicsResponse()
        ):
            if reply.error_code:
                yield _request_error(reply.error_code, reply.error_message)
            for topic in reply.topics:
                if topic.error_code:
                    yield _request_error(topic.error_code, None, topic.name)
        case _:
            raise AssertionError(f"not a response about a mirror: {reply!r}")


def first_error(mirror: str, request: Message, reply: Message) -> tuple[ErrorCode, str] | None:
    """Return the first error in the response to one of the requests above, and its message; None if all was done."""
    rejection = next(errors_in(reply), None)
    if rejection is None:
        return None
    mirror_verb, topic_verb = _VERBS[type(request)]
    verb = mirror_verb if rejection.topic is None else topic_verb.format(rejection.topic)
    return rejection.error, f"cannot {verb} mirror {mirror}: {rejection.error.name}: {rejection.message}"


def _request_error(code: int, message: str | None, topic: str | None = None) -> RequestError:
    error = ErrorCode(code)
    return RequestError(error, message or error.text, topic)


def parse_rows(mirror: DescribedMirror) -> Iterator[MirrorRow]:
    """Yield the rows of the partitions of a mirror that one broker leads."""
    for topic in mirror.topics:
        for p in topic.partitions:
            yield MirrorRow(
                TopicPartition(topic.topic_name, p.partition_index),
                p.source_offset,
                p.destination_offset,
                p.lag,
                MirrorState[p.state],
                p.last_mirror_epoch,
                p.reason,
                p.leader_epoch,
            )


def keep_newest(rows: dict[TopicPartition, MirrorRow], mirror: DescribedMirror) -> None:
    """Add the rows of one broker; of two leaders of a partition, keep the one with the higher leader epoch.

    A former leader may not know yet that it was replaced.
    """
    for row in parse_rows(mirror):
        known = rows.get(row.tp)
        if known is None or known.leader_epoch <= row.leader_epoch:
            rows[row.tp] = row


def parse_descriptions(answers: Mapping[int, Message]) -> dict[str, Description]:
    """Return the descriptions in responses to DescribeMirrors, given by broker id; by mirror name, sorted."""
    found: dict[str, Description] = {}
    for broker_id, reply in answers.items():
        assert isinstance(reply, DescribeMirrorsResponse), "the response to its request"
        for mirror in reply.mirrors:
            found.setdefault(mirror.mirror_name, Description()).add(broker_id, mirror)
    return dict(sorted(found.items()))


def parse_listings(reply: ListMirrorsResponse) -> list[MirrorListing]:
    """Return the mirrors of a cluster, sorted by name; KafkaError if the request is rejected."""
    if reply.error_code:
        error = code_of(reply.error_code)
        raise KafkaError(error, f"cannot list mirrors: {error.name}: {reply.error_message or error.text}")
    rows = [
        MirrorListing(row.mirror_name, row.source_bootstrap, row.source_cluster_id, row.topic_count, row.warning)
        for row in reply.mirrors
    ]
    return sorted(rows, key=lambda row: row.name)


def explain(partitions: Sequence[TopicPartition], rows: Iterable[MirrorRow]) -> str:
    """Return a text with the states of some partitions and the reasons."""
    by_tp = {row.tp: row for row in rows}
    parts = []
    for tp in partitions[:3]:
        row = by_tp.get(tp)
        state_text = "no leader reports it" if row is None else f"{row.state.name}, lag {row.lag}"
        reason = f": {row.reason}" if row is not None and row.reason else ""
        parts.append(f"{tp} ({state_text}{reason})")
    more = f" and {len(partitions) - 3} more" if len(partitions) > 3 else ""
    return ", ".join(parts) + more


def pause_s(rows: Collection[MirrorRow]) -> float:
    """Return the minimum seconds until a mirror with these rows may be described again."""
    return max(DESCRIBE_EVERY_S, len(rows) / ROWS_PER_S)
