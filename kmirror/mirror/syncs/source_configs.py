"""Configs of topics at the source: DescribeConfigs, in the versions of Kafka 2.1 and later.

Each cycle requests the configs of every topic, as in the KIP, and mostly gets the same response again: for 10,000
topics 13 MB, which take more than a second to parse. So a response that came before is recognised by its digest, and
not parsed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from kmirror.client.empty_responses import CORRELATION_ID_BYTES
from kmirror.client.remote_cluster import RemoteCluster, code_of
from kmirror.client.witnesses import Witnesses
from kmirror.kernel.clock import Instant
from kmirror.kernel.empty_table import EMPTY
from kmirror.kernel.events import Chunk
from kmirror.kernel.ids import Endpoint
from kmirror.mirror.syncs.batches import in_batches
from kmirror.mirror.syncs.scripts import PURPOSE, OnResponse, ScriptRequest, WitnessRequest
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse, DescribeConfigsResult
from kmirror.protocol.message import Message
from kmirror.spec.version_limits import WITHOUT_MIRRORS_LAST
from kmirror.spec.wire_values import ConfigSource, ResourceType

if TYPE_CHECKING:  # These belong to the broker, and a client reads responses without one.
    from kmirror.mirror.context import MirrorContext

TOPICS_MAX = 25
"""Topics in one request: with forty configs each, a response has 30 kB, which blocks everything else for 3 ms."""
RESPONSES_KEPT = 4
"""Number of responses kept about the same topics: brokers may differ in their own configs."""
UNCLEAN = "unclean.leader.election.enable"
VERSION_MAX = WITHOUT_MIRRORS_LAST[DescribeConfigsRequest.NAME]


@dataclass(frozen=True, slots=True)
class SourceConfigs:
    """The configs set for topics at the source, and why those of other topics are unknown."""

    values: dict[str, Mapping[str, str]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)
    unclean: dict[str, None] = field(default_factory=dict)
    """The topics that may have unclean elections, by their own configs or their brokers' (D67)."""

    def add(self, names: Sequence[str], response: SourceConfigs | None) -> None:
        """Add the response about some topics; None if there was none."""
        if response is None:
            self.unanswered.extend(names)
            self.problems.update(dict.fromkeys(names, "the source did not respond to DescribeConfigs"))
        else:
            self.values.update(response.values)
            self.problems.update(response.problems)
            self.unclean.update(response.unclean)


class ResponseCache:
    """The contents of a source's newest responses, by digest."""

    def __init__(self) -> None:
        self._contents: dict[bytes, SourceConfigs] = {}
        """In order of last use."""

    def find(self, digest: bytes) -> SourceConfigs | None:
        """Return the contents of a response that was parsed before."""
        found = self._contents.pop(digest, None)
        if found is not None:
            self._contents[digest] = found
        return found

    def add(self, digest: bytes, response: SourceConfigs) -> None:
        """Keep the contents of a response; the value must not be modified."""
        self._contents[digest] = response

    def shrink(self, count_max: int) -> None:
        """Forget all but the newest."""
        for digest in list(self._contents)[: max(0, len(self._contents) - count_max)]:
            del self._contents[digest]


@dataclass(frozen=True, slots=True)
class ConfigsRequest:
    """The request for the configs of some topics, to a broker of the source; the response is a SourceConfigs."""

    names: Sequence[str]
    known: ResponseCache
    endpoint: Endpoint

    def send(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_response: OnResponse) -> None:
        digest = b""

        def on_frame(later: Instant, frame: Chunk) -> bool:
            nonlocal digest
            digest = blake2b(frame[CORRELATION_ID_BYTES:], digest_size=16).digest()
            found = self.known.find(digest)
            if found is not None:
                on_response(later, found)
            return found is not None

        def on_reply(later: Instant, reply: Message | None) -> None:
            response = read(reply)
            if response is not None:
                self.known.add(digest, response)
            on_response(later, response)

        body = request(self.names)
        source.send(now, self.endpoint, PURPOSE, body, on_reply, version_max=VERSION_MAX, on_frame=on_frame)


def describe(
    topics: Sequence[str], source: RemoteCluster, known: ResponseCache | None = None
) -> Generator[Sequence[ScriptRequest], Sequence[Any], SourceConfigs]:
    """Request the configs of `topics` from the source's witnesses; a part of a script (D60).

    `known` keeps responses for callers that repeat the request.
    """
    if not topics:
        return SourceConfigs()
    witnesses: Witnesses = (yield [WitnessRequest()])[0]
    if not witnesses.endpoints:
        return SourceConfigs(problems=dict.fromkeys(topics, witnesses.missing_reason), unanswered=list(topics))
    known = known or ResponseCache()
    batches = in_batches(topics, TOPICS_MAX)
    by_broker = []
    for endpoint in witnesses.endpoints:
        responses = yield [ConfigsRequest(names, known, endpoint) for names in batches]
        found = SourceConfigs()
        for names, response in zip(batches, responses, strict=True):
            found.add(names, response if witnesses.are_valid(source) else None)
        by_broker.append(found)
    return merge_agreeing(by_broker)


def merge_agreeing(by_broker: Sequence[SourceConfigs]) -> SourceConfigs:
    """Return the configs on which all brokers agree; a topic on which they differ has a problem instead."""
    first, *other_results = by_broker
    found = SourceConfigs({}, dict(first.problems), list(first.unanswered), dict(first.unclean))
    for other in other_results:
        found.problems.update(other.problems)
        found.unanswered.extend(name for name in other.unanswered if name not in found.unanswered)
    for name, values in first.values.items():
        if name in found.problems:
            continue
        if all(other.values.get(name) == values for other in other_results):
            found.values[name] = values
        else:
            found.problems[name] = "brokers of the source return different configs for it"
    return found


def read(reply: object) -> SourceConfigs | None:
    """Return the configs of the requested topics in a response; None without a response."""
    if not isinstance(reply, DescribeConfigsResponse):
        return None
    found = SourceConfigs()
    for result in reply.results:
        if result.error_code:
            found.problems[result.resource_name] = _problem(result)
        else:
            found.values[result.resource_name] = _set_for_the_topic(result)
            if any(entry.name == UNCLEAN and entry.value == "true" for entry in result.configs):
                found.unclean[result.resource_name] = None
    return found


def request(topics: Iterable[str]) -> DescribeConfigsRequest:
    """Return the request for all configs of some topics."""
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=ResourceType.TOPIC, resource_name=name, configuration_keys=None)
            for name in topics
        ]
    )


def _problem(result: DescribeConfigsResult) -> str:
    error = code_of(result.error_code).name
    return f"the source returned {error} for DescribeConfigs; the mirror's principal needs DescribeConfigs on the topic"


def _set_for_the_topic(result: DescribeConfigsResult) -> Mapping[str, str]:
    values = {
        entry.name: entry.value
        for entry in result.configs
        if entry.config_source == ConfigSource.TOPIC and entry.value is not None
    }
    return values or EMPTY
