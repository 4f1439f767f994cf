"""Actions of `kmirror mirrors`: requests to the cluster, and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kmirror.admin.client import AsyncAdmin, TopicInfo
from kmirror.admin.mirror import describe_mirrors, list_mirrors, send_mirror_request
from kmirror.admin.mirror_filters import explain_filters
from kmirror.assembly.mirrors import (
    Description,
    MirrorListing,
    add_topics_request,
    alter_request,
    create_request,
    delete_request,
    errors_in,
    pause_topics_request,
    remove_topics_request,
    resume_topics_request,
)
from kmirror.cli.cluster_client import Client, open_admin
from kmirror.cli.mirror_tables import (
    describe_json,
    describe_table,
    filter_json,
    filter_rows,
    filter_table,
    list_json,
    list_table,
    outcome_json,
    reasons,
)
from kmirror.cli.mirror_wait import wait_for_state
from kmirror.cli.output import write_stderr
from kmirror.cli.topic_pattern import topic_matcher
from kmirror.client.remote_cluster import code_of
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.names import counted
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import MirrorState
from kmirror.mirror.topic_ids import generated_topic_id
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest, MirrorInfo
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import problem_with_name

ACTIONS: Final = (
    "add",
    "alter",
    "create",
    "delete",
    "describe",
    "explain-filters",
    "list",
    "pause",
    "remove",
    "resume",
)
NEEDS_CONFIG: Final = ("create", "alter")
NEEDS_TOPIC: Final = {
    "add": "adding topic(s) to a mirror",
    "remove": "removing topic(s) from a mirror",
    "pause": "pausing topic(s) of a mirror",
    "resume": "resuming topic(s) of a mirror",
}
RESULT_TEXTS: Final = {
    "add": "Added {count} topic(s) to mirror {mirror}: [{topics}]",
    "remove": "Removed {count} topic(s) from mirror {mirror}: [{topics}]",
    "pause": "Paused mirroring for {count} topic(s) in mirror {mirror}: [{topics}]",
    "resume": "Resumed mirroring for {count} topic(s) in mirror {mirror}: [{topics}]",
    "create": "Created mirror {mirror}",
    "delete": "Deleted mirror {mirror}",
    "alter": "Completed updating config for mirror {mirror}.",
}
DRY_RUN_TEXTS: Final = {
    "add": "Would add {count} topic(s) to mirror {mirror}: [{topics}]",
    "remove": "Would remove {count} topic(s) from mirror {mirror}: [{topics}]",
    "pause": "Would pause mirroring for {count} topic(s) in mirror {mirror}: [{topics}]",
    "resume": "Would resume mirroring for {count} topic(s) in mirror {mirror}: [{topics}]",
    "create": "Would create mirror {mirror} with configs [{configs}]",
    "delete": "Would delete mirror {mirror}",
    "alter": "Would update configs [{configs}] of mirror {mirror}",
}
FOLLOWING: Final = (MirrorState.UNKNOWN, MirrorState.PREPARING, MirrorState.MIRRORING)
TOPIC_REQUESTS: Final[Mapping[str, Callable[[str, Iterable[str]], Message]]] = {
    "remove": remove_topics_request,
    "pause": pause_topics_request,
    "resume": resume_topics_request,
}
APPLICABLE_STATES: Final[Mapping[str, Collection[MirrorState]]] = {
    "remove": tuple(state for state in MirrorState if state is not MirrorState.STOPPED),
    "pause": FOLLOWING,
    "resume": (MirrorState.PAUSING, MirrorState.PAUSED),
}
"""Action to the states in which it applies: a pattern matches topics with a partition in such a state."""
EVERY_TOPIC = ".*"
INTERNAL = "__"
SOURCE_TIMEOUT_MS = 10_000
CLEAR_SCREEN = "\x1b[H\x1b[2J"


@dataclass(frozen=True, slots=True)
class Task:
    """Task of a command line."""

    action: str
    servers: str
    client: Client
    source_client: Client
    """Client for the source, with the security settings of the mirror's properties if they are given."""
    mirror: str = ""
    topic: str = ""
    """A topic, or a pattern for whole names; empty for all."""
    configs: Mapping[str, str] | None = None
    replication_factor: int | None = None
    watch_interval_s: float | None = None
    is_dry: bool = False
    as_json: bool = False
    wait_for: MirrorState | None = None
    """State to wait for after the action."""
    timeout_ms: int | None = None
    """Limit of that wait."""


async def run_task(task: Task) -> int:
    """Carry out the task, print the result, and return the exit code.

    Raise KafkaError if it is refused or no broker responds.
    """
    async with open_admin(task.servers, task.client) as admin:
        return await _HANDLERS[task.action](admin, task)


def _open_source(listing: MirrorListing, task: Task) -> AsyncAdmin:
    """Return a client of the mirror's source with a short timeout, because it may be reachable for brokers only."""
    configs = task.client.configs
    timeout_ms = min(configs.default_api_timeout_ms, SOURCE_TIMEOUT_MS)
    client = Client(replace(configs, default_api_timeout_ms=timeout_ms), task.source_client.security)
    return open_admin(listing.source_servers, client)


# -- queries ----------------------------------------------------------------------------------


async def _list(admin: AsyncAdmin, task: Task) -> int:
    listings = [row for row in await list_mirrors(admin) if task.mirror in ("", row.name)]
    print((list_json if task.as_json else list_table)(listings), end="")
    if not task.as_json:
        write_stderr("".join(f"{row.name} warning: {row.warning}\n" for row in listings if row.warning))
    return 0


async def _describe(admin: AsyncAdmin, task: Task) -> int:
    matches = topic_matcher(task.topic or EVERY_TOPIC)
    waited = await _wait(admin, task, matches)
    while True:
        descriptions = await describe_mirrors(admin, [task.mirror] if task.mirror else [])
        mirrors = {name: described.only(matches) for name, described in descriptions.items()}
        if task.watch_interval_s is not None and not task.as_json and sys.stdout.isatty():
            print(CLEAR_SCREEN, end="")
        print((describe_json if task.as_json else describe_table)(mirrors), end="", flush=True)
        if not task.as_json:
            write_stderr(reasons(mirrors))
        if task.watch_interval_s is None:
            return waited
        await asyncio.sleep(task.watch_interval_s)


async def _wait(admin: AsyncAdmin, task: Task, matches: Callable[[str], bool]) -> int:
    """Wait for the state of --wait, if it is given; return the exit code."""
    if task.wait_for is None:
        return 0
    return await wait_for_state(admin, task.mirror, matches, task.wait_for, task.timeout_ms)


async def _explain_filters(admin: AsyncAdmin, task: Task) -> int:
    listing = await _find_listing(admin, task.mirror)
    async with _open_source(listing, task) as source:
        found = await explain_filters(task.mirror, source=source, destination=admin)
    matches = topic_matcher(task.topic or EVERY_TOPIC)
    rows = [row for row in filter_rows(found) if row[0] == "group" or matches(row[1].partition(": ")[0])]
    print((filter_json if task.as_json else filter_table)(rows), end="")
    return 0


# -- orders about a mirror --------------------------------------------------------------------


async def _create(admin: AsyncAdmin, task: Task) -> int:
    return await _send_order(admin, task, create_request(task.mirror, "", task.configs or {}))


async def _alter(admin: AsyncAdmin, task: Task) -> int:
    return await _send_order(admin, task, alter_request(task.mirror, task.configs or {}))


async def _delete(admin: AsyncAdmin, task: Task) -> int:
    return await _send_order(admin, task, delete_request(task.mirror))


async def _send_order(admin: AsyncAdmin, task: Task, request: Message) -> int:
    if not task.is_dry:
        _check_reply(await send_mirror_request(admin, request, changes=True))
    _print_result(task, None)
    return 0


def _check_reply(reply: Message) -> dict[str, str]:
    """Return the errors of refused topics; raise KafkaError if the whole order was refused."""
    refused: dict[str, str] = {}
    for each in errors_in(reply):
        if each.topic is None:
            raise KafkaError(each.error, f"{each.error.name}: {each.message}")
        refused[each.topic] = f"{each.error.name}: {each.message}"
    return refused


def _print_result(task: Task, topics: Sequence[str] | None, refused: Mapping[str, str] | None = None) -> None:
    if task.as_json:
        print(outcome_json(task.action, task.mirror, topics, refused or {}, is_dry=task.is_dry), end="")
        return
    names = topics or ()
    text = (DRY_RUN_TEXTS if task.is_dry else RESULT_TEXTS)[task.action]
    # The values may be secrets.
    configs = ", ".join(task.configs or ())
    print(text.format(count=len(names), mirror=task.mirror, topics=", ".join(names), configs=configs))


# -- orders about topics ----------------------------------------------------------------------


async def _add(admin: AsyncAdmin, task: Task) -> int:
    listing = await _find_listing(admin, task.mirror)
    source_topics = await _read_source_topics(listing, task)
    if source_topics is None:
        ids, source_topics = {task.topic: Uuid.ZERO}, {}
    elif task.topic in source_topics:
        ids = {task.topic: source_topics[task.topic].topic_id}
    else:
        matches = topic_matcher(task.topic)
        found = [name for name, topic in source_topics.items() if matches(name) and not _is_internal(name, topic)]
        if not found:
            raise _no_match(task.topic)
        described = (await describe_mirrors(admin, [task.mirror]))[task.mirror]
        mirrored = {row.tp.topic for row in described.rows if row.state is not MirrorState.STOPPED}
        mirrored.update(described.undescribed_topics)
        ids = {name: source_topics[name].topic_id for name in found if name not in mirrored}
    if task.replication_factor is not None and not task.is_dry:
        await _create_topics(admin, listing, {name: source_topics[name] for name in ids if name in source_topics}, task)
    return await _change_topics(admin, task, sorted(ids), add_topics_request(task.mirror, ids))


async def _change(admin: AsyncAdmin, task: Task) -> int:
    listing = await _find_listing(admin, task.mirror)
    described = (await describe_mirrors(admin, [task.mirror]))[task.mirror]
    topics = _matching_topics(task, described)
    hidden = listing.topic_count - len(described.topics)
    if task.action != "remove":
        hidden += len(described.undescribed_topics)
    if hidden > 0 and topics != [task.topic]:
        hidden_text = counted(hidden, "topic")
        write_stderr(
            f"{hidden_text} of mirror {task.mirror} cannot be matched because it has no leader: give its full name\n"
        )
    return await _change_topics(admin, task, topics, TOPIC_REQUESTS[task.action](task.mirror, topics))


def _matching_topics(task: Task, described: Description) -> list[str]:
    """Return the named topic, or those that a pattern matches; raise KafkaError if it matches none.

    A name that no broker describes is left to the cluster. The state of a topic without a leader is not known, so a
    pattern matches it only for a removal.
    """
    matched = described.only(topic_matcher(task.topic))
    is_name = problem_with_name(task.topic) is None
    if is_name and (not matched.topics or task.topic in matched.topics):
        return [task.topic]
    if not matched.topics:
        raise _no_match(task.topic)
    found = {row.tp.topic for row in matched.rows if row.state in APPLICABLE_STATES[task.action]}
    return sorted(found.union(matched.undescribed_topics) if task.action == "remove" else found)


async def _change_topics(admin: AsyncAdmin, task: Task, topics: Sequence[str], request: Message) -> int:
    refused: dict[str, str] = {}
    if topics and not task.is_dry:
        refused = _check_reply(await send_mirror_request(admin, request, changes=True))
    _print_result(task, [topic for topic in topics if topic not in refused], refused)
    for topic, reason in refused.items():
        write_stderr(f"Error while executing mirror command : topic {topic}: {reason}\n")
    changed = set(topics).difference(refused)
    waited = await _wait(admin, task, changed.__contains__) if changed else 0
    return waited or int(bool(refused))


async def _find_listing(admin: AsyncAdmin, mirror: str) -> MirrorListing:
    found = next((row for row in await list_mirrors(admin) if row.name == mirror), None)
    if found is None:
        raise KafkaError(ErrorCode.UNKNOWN_MIRROR, f"Mirror '{mirror}' not found or has no configuration")
    return found


async def _read_source_topics(listing: MirrorListing, task: Task) -> dict[str, TopicInfo] | None:
    """Return the topics of the source; None if it does not respond from here, and a single topic is named."""
    try:
        async with _open_source(listing, task) as source:
            return await source.topics()
    except KafkaError as error:
        if problem_with_name(task.topic) is not None:
            advice = (
                "a pattern needs a connection from here to the source: give --mirror-config, or one topic's full name"
            )
            raise KafkaError(error.code, f"the source does not respond: {error}; {advice}") from None
        write_stderr(f"source unreachable from here ({error}): the topic is added without the source's topic id\n")
        return None


async def _create_topics(
    admin: AsyncAdmin, listing: MirrorListing, topics: Mapping[str, TopicInfo], task: Task
) -> None:
    """Create the topics that the destination lacks, with the given number of replicas."""
    assert task.replication_factor is not None, "the caller looked"
    existing = await admin.topics()
    new = {name: topic for name, topic in topics.items() if name not in existing}
    if not new:
        return
    if any(topic.topic_id == Uuid.ZERO for topic in new.values()) and not listing.source_cluster_id:
        raise UsageError(
            "--replication-factor: the source has no topic ids, and the mirror has not connected to it yet"
        )
    rows = [
        CreatableTopic(
            name=name,
            num_partitions=len(topic.leaders),
            replication_factor=task.replication_factor,
            mirror_info=MirrorInfo(
                topic_id=generated_topic_id(listing.source_cluster_id, name)
                if topic.topic_id == Uuid.ZERO
                else topic.topic_id
            ),
        )
        for name, topic in new.items()
    ]
    reply = await admin.order(CreateTopicsRequest(topics=rows, timeout_ms=task.client.configs.request_timeout_ms))
    assert isinstance(reply, CreateTopicsResponse), "the answer to its request"
    for row in reply.topics:
        if row.error_code:
            error = code_of(row.error_code)
            raise KafkaError(error, f"cannot create topic {row.name}: {error.name}: {row.error_message or error.text}")


def _is_internal(name: str, topic: TopicInfo) -> bool:
    return topic.is_internal or name.startswith(INTERNAL)


def _no_match(pattern: str) -> KafkaError:
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No topics matching pattern '{pattern}' found")


_HANDLERS: Final[Mapping[str, Callable[[AsyncAdmin, Task], Awaitable[int]]]] = {
    "add": _add,
    "alter": _alter,
    "create": _create,
    "delete": _delete,
    "describe": _describe,
    "explain-filters": _explain_filters,
    "list": _list,
    "pause": _change,
    "remove": _change,
    "resume": _change,
}
