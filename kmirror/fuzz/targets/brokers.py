"""Target: a kmirror broker next to another one; both get the same requests, and their responses are compared.

A round is a number of frames that use names new to both brokers. After a difference the brokers may be in different
states, so the next frame begins another round, and its consequences are not reported as new findings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from kmirror.errors import ProtocolError, UsageError
from kmirror.fuzz.connection import TIMEOUT_S
from kmirror.fuzz.differential.broker_reasons import BROKER_REASONS
from kmirror.fuzz.differential.compared_broker import (
    MARK,
    TOPIC_ID,
    ComparedBroker,
    Reaction,
    ReactionKind,
    check_alone,
    other_rounds,
)
from kmirror.fuzz.differential.reasons import reason_of
from kmirror.fuzz.differential.response_diff import Difference, code_name, differences, summary
from kmirror.fuzz.disconnect_rules import Versions
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.requests import broker_requests, requests
from kmirror.fuzz.responses import codes, judge_response, key_and_version, may_block
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.fuzz.targets.tcp import checked_address
from kmirror.net.cluster import TcpCluster
from kmirror.net.profile import SERVED
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import decode_request, peek_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_api_name, find_key, key_of
from kmirror.spec.configs import Scope, config_keys
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

ROUND_FRAMES = 128
NODE_ID = 1
_WAIT_S = 0.3
"""A request that may wait counts as waiting if it has no response after this time."""
_LATE_S = 2.0
"""Maximum time by which one broker may respond later than the other."""
_PAUSES_S = (0.02, 0.1, 0.4)
"""Pauses before asking again, where time alone may change a response."""
_TEMPORARY = frozenset(
    code_name(code)
    for code in (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.TOPIC_ALREADY_EXISTS,
    )
)  # fmt: skip
"""Codes that are temporary, until a broker has applied a change."""
_READ_ONLY_APIS = frozenset(
    {
        "Metadata", "DescribeTopicPartitions", "DescribeCluster", "FindCoordinator", "ApiVersions", "ListOffsets",
        "OffsetForLeaderEpoch", "DescribeGroups", "ListGroups", "OffsetFetch", "DescribeLogDirs", "DescribeProducers",
        "DescribeTransactions", "ListTransactions", "DescribeConfigs",
    }
)  # fmt: skip
"""APIs that change nothing: requests may be repeated, and a difference does not mean that the states differ."""
_CLUSTER_APIS = frozenset({"AlterConfigs", "IncrementalAlterConfigs", "UpdateFeatures", "DeleteTopics"})
"""APIs whose effects may outlast a round."""
_ROUND_NAMES = ("topicName", "groupId", "transactionalId", "resource_name")
_UNMARKED = frozenset({"", "1", "__consumer_offsets", "no topic", "x" * 250})
# Configs that describe where a broker runs rather than how it behaves, by parts of their names.
_OWN_CONFIGS = ("listener", "log.dir", "node.id", "broker.id", "process.roles", "controller.", "security.", "rack")
_BROKER, _STATIC = 4, 4
_DESCRIBE_CONFIGS_VERSION = 4


class BrokersTarget:
    """Two brokers that should agree, ours first. `close` calls `on_close` at the end."""

    name = "brokers"

    def __init__(
        self, ours: ComparedBroker, theirs: ComparedBroker, on_close: Callable[[], None] = lambda: None
    ) -> None:
        self._brokers = (ours, theirs)
        self._on_close = on_close
        self._versions = (ours.versions(), theirs.versions())
        self._round = int.from_bytes(os.urandom(2), "big")  # Brokers may remember the names of an earlier run.
        self._frames: list[bytes] = []
        self._confirmed: set[str] = set()
        self._has_diverged = False
        self._diverged_by = ""
        self.reset()

    @property
    def remarks(self) -> Sequence[str]:
        """Return the APIs and versions that are left out because only one broker serves them."""
        ours, theirs = self._versions
        rows = (("ours", ours, theirs), ("the other broker", theirs, ours))
        lists = [(name, _served_only_by_first(some, others)) for name, some, others in rows]
        return [f"left out, for only {name} serves it: {', '.join(found)}" for name, found in lists if found]

    @property
    def before(self) -> Sequence[bytes]:
        """Return the frames of this round, without the last."""
        return self._frames[:-1]

    def reset(self) -> None:
        """Begin a round."""
        self._round += 1
        self._frames = []
        self._has_diverged = False
        for broker in self._brokers:
            broker.begin(self._round)

    def close(self) -> None:
        """Delete the names that were created at the other broker, close the links, and stop ours."""
        with suppress(Fault):
            self._brokers[1].forget()
        for broker in self._brokers:
            broker.close()
        self._on_close()

    def messages(self, names: Sequence[str]) -> tuple[type[Message], ...]:
        """Return the requests that both serve, of those named or of all; raises `UsageError` if there are none."""
        ours, theirs = self._versions
        found = tuple(each for each in broker_requests(names) if key_of(each) in ours and key_of(each) in theirs)
        if not found:
            raise UsageError("the brokers have none of these APIs in common")
        return found

    def judge(self, frame: Frame) -> str:
        """Return the outcome if both agree, or "left out"; raises `Fault` with all differences."""
        data = frame.data
        if self._is_left_out(data):
            return "left out"
        if self._has_diverged or len(self._frames) >= ROUND_FRAMES:
            self.reset()
        self._frames.append(data)
        outcome, found = self._compare_until_stable(data)
        api = _api_name(data)
        if any(each.cause(api) not in self._confirmed for each in found):
            found = self._reproduce(found, api)
            if not found:
                self._has_diverged = True
                return "unsteady"
        faults = [self._fault(frame, api, each) for each in found if not _is_intended(each, api, data)]
        if found and api not in _READ_ONLY_APIS:
            self._has_diverged = True
            if api in _CLUSTER_APIS and not self._diverged_by:
                self._diverged_by = f"{api} of frame {frame.number} ({found[0].description})"
        if faults:
            faults[0].others = tuple(faults[1:])
            raise faults[0]
        return f"meant: {found[0].cause(api)}" if found else outcome

    def _is_left_out(self, data: bytes) -> bool:
        """Return whether only one of them lists the API in this version."""
        key, version = key_and_version(data)
        are_listed = [first <= version <= last for first, last in (each.get(key, (0, -1)) for each in self._versions)]
        return are_listed[0] is not are_listed[1]

    def _fault(self, frame: Frame, api: str, found: Difference) -> Fault:
        story = list(frame.story)
        if self._diverged_by:
            story.append(f"state that outlives a round may differ since an earlier one, because of {self._diverged_by}")
        return Fault(
            FaultKind.DIFFERS, found.description, found.cause(api), f"as the other broker: {found.theirs}", story
        )

    def _reproduce(self, found: Sequence[Difference], api: str) -> list[Difference]:
        """Return the differences that the same frames show again in another round."""
        *before, last = frames = self._frames
        self.reset()
        for data in before:
            self._exchange(data)
        self._frames = frames
        causes = {each.cause(api) for each in self._compare_until_stable(last)[1]}
        reproduced = [each for each in found if each.cause(api) in causes]
        self._confirmed |= {each.cause(api) for each in reproduced}
        return reproduced

    def _compare_until_stable(self, data: bytes) -> tuple[str, list[Difference]]:
        """Return outcome and differences; repeat the request while time alone may end unconfirmed differences."""
        outcome, found = self._compare(data)
        api = _api_name(data)
        for pause in _PAUSES_S:
            unconfirmed = [each for each in found if each.cause(api) not in self._confirmed]
            if not any(api in _READ_ONLY_APIS or {each.ours, each.theirs} & _TEMPORARY for each in unconfirmed):
                break
            time.sleep(pause)
            outcome, found = self._compare(data)
        return outcome, found

    def _compare(self, data: bytes) -> tuple[str, list[Difference]]:
        """Send the request to both; return the outcome of the other broker, and the differences."""
        ours, theirs = self._exchange(data)
        outcomes = [
            _outcome(broker.name, data, reaction)
            for broker, reaction in zip(self._brokers, (ours, theirs), strict=True)
        ]
        if ours.kind is not theirs.kind:
            return outcomes[1], [Difference("", _describe(data, ours), _describe(data, theirs))]
        if ours.kind is not ReactionKind.ANSWERED:
            return outcomes[1], []
        responses = [_decode_response(data, reaction.response) for reaction in (ours, theirs)]
        rounds = other_rounds(ours.response + theirs.response)
        (version, left), (other, right) = responses
        if version != other:
            return outcomes[1], [Difference("", f"an answer in v{version}", f"an answer in v{other}")]
        return outcomes[1], differences(_api_name(data), left, right, MARK, rounds)

    def _exchange(self, data: bytes) -> tuple[Reaction, Reaction]:
        """Send the request to both at once, and return the reaction of each."""
        has_response = not _has_no_response(data)
        for broker in self._brokers:
            broker.send(data, has_response=has_response)
        timeout_s = _WAIT_S if has_response and may_block(data, TIMEOUT_S) else TIMEOUT_S
        have_reaction = [broker.has_reaction(timeout_s) for broker in self._brokers]
        if any(have_reaction) and not all(have_reaction):
            self._brokers[have_reaction.index(False)].has_reaction(_LATE_S)
        ours, theirs = (broker.read_reaction(data) for broker in self._brokers)
        return ours, theirs


def _api_name(data: bytes) -> str:
    api = find_key(key_and_version(data)[0])
    return "no API" if api is None else api.name


def _outcome(name: str, data: bytes, reaction: Reaction) -> str:
    """Return the outcome of a broker's reaction; raises `Fault`, with its name, for an invalid response."""
    if reaction.kind is ReactionKind.ANSWERED:
        try:
            return judge_response(data, reaction.response)
        except Fault as fault:
            raise Fault(fault.kind, f"{name}: {fault.description}", f"{name}: {fault.cause}", fault.expected) from None
    return {
        ReactionKind.CLOSED: "closed",
        ReactionKind.SILENT: "waits",
        ReactionKind.NOTHING: "taken, without an answer",
    }[reaction.kind]


def _decode_response(data: bytes, response: bytes) -> tuple[int, Message]:
    """Return the version of a response that `judge_response` has accepted, and the response."""
    key, version = key_and_version(data)
    api = find_key(key)
    assert api is not None, "judged"
    if api.name == "ApiVersions" and response[4:6] == ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big"):
        version = 0  # Every client can read version 0 (KIP-511).
    at = peek_response(response, key, version).body_position
    return version, api.response.decode_prefix(response, version, at)[0]


def _describe(data: bytes, reaction: Reaction) -> str:
    if reaction.kind is not ReactionKind.ANSWERED:
        return str(reaction.kind.value)
    found = summary(list(codes(_decode_response(data, reaction.response)[1])))
    return f"{reaction.kind.value} with {found}"


def _is_intended(found: Difference, api: str, data: bytes) -> bool:
    return reason_of(found.cause(api), data, BROKER_REASONS) is not None


def _has_no_response(data: bytes) -> bool:
    if key_and_version(data)[0] != key_of(ProduceRequest):
        return False
    try:
        body = decode_request(data).body
    except ProtocolError:
        return False
    return isinstance(body, ProduceRequest) and body.acks == Acks.NONE


def _served_only_by_first(some: Versions, others: Versions) -> list[str]:
    """Return the API names that only the first serve, with their versions if the others serve some."""
    found = []
    for key, (first, last) in sorted(some.items()):
        api = find_key(key)
        name = f"API {key}" if api is None else api.name
        low, high = others.get(key, (0, -1))
        versions = [version for version in range(first, last + 1) if not low <= version <= high]
        if versions and low <= high:
            name += " v" + ", v".join(map(str, versions))
        if versions:
            found.append(name)
    return found


# -- opening ------------------------------------------------------------------------------------


def open_target(options: TargetOptions) -> tuple[BrokersTarget, Stream]:
    """Return a kmirror broker, started here, with the one at `options.bootstrap_server`, and requests for both.

    Raises `UsageError` for a broker beyond loopback, unless `owns_host` is set, and for one that is not alone or has
    topics.
    """
    if options.bootstrap_server is None:
        raise UsageError("the target brokers needs --bootstrap-server HOST:PORT, the broker to compare with")
    for name in options.messages:
        by_api_name(name.removesuffix("Request"))
    theirs = ComparedBroker("theirs", *checked_address(options.bootstrap_server, owns_host=options.owns_host))
    cluster: TcpCluster | None = None
    try:
        check_alone(theirs, NODE_ID)
        cluster = TcpCluster(brokers=1, configs={**SERVED, **_configs(theirs)}, mirror_version=0)
        cluster.start()
        endpoint = cluster.endpoint(NODE_ID)
        target = BrokersTarget(ComparedBroker("ours", endpoint.host, endpoint.port), theirs, cluster.close)
        return target, stream(options.seed, target.messages(options.messages))
    except BaseException as error:
        theirs.close()
        if cluster is not None:
            cluster.close()
        if isinstance(error, Fault):
            raise UsageError(error.description) from None
        raise


def stream(seed: int, messages: tuple[type[Message], ...]) -> Stream:
    """Return the requests of a seed, with the mark in their names instead of a round."""
    base = requests(seed, topic_ids=[TOPIC_ID])
    return replace(base, messages=messages, vocabulary=replace(base.vocabulary, words=_words(base.vocabulary.words)))


def _words(words: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Return the words, with the mark appended to those that are names."""
    changed = {key: tuple(each if each in _UNMARKED else each + MARK for each in words[key]) for key in _ROUND_NAMES}
    return MappingProxyType({**words, **changed})


def _configs(broker: ComparedBroker) -> dict[str, str]:
    """Return the configs set at a broker that ours knows, without those of its location; ours is started with them."""
    resource = DescribeConfigsResource(resource_type=_BROKER, resource_name=str(NODE_ID), configuration_keys=None)
    found: Any = broker.ask(DescribeConfigsRequest(resources=[resource]), _DESCRIBE_CONFIGS_VERSION)
    rows = config_keys(Scope.BROKER)
    return {
        row.name: row.value
        for row in found.results[0].configs
        if row.name in rows and row.value is not None and (row.config_source == _STATIC or row.name in SERVED)
        and not any(word in row.name for word in _OWN_CONFIGS)
    }  # fmt: skip
