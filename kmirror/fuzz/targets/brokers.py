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
from kmirror.fuzz.connection import PATIENCE_S
from kmirror.fuzz.differential.broker_reasons import BROKER_REASONS
from kmirror.fuzz.differential.reasons import reason_of
from kmirror.fuzz.differential.response_diff import Difference, code_name, differences, summary
from kmirror.fuzz.differential.side import MARK, TOPIC_ID, How, Seen, Side, check_alone, other_rounds
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
from kmirror.spec.configs import Scope, known
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

ROUND_FRAMES = 128
NODE_ID = 1
_WAITS_S = 0.3
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
"""APIs that change nothing: they may be asked again, and a difference does not mean that the states differ."""
_OF_CLUSTER = frozenset({"AlterConfigs", "IncrementalAlterConfigs", "UpdateFeatures", "DeleteTopics"})
"""APIs whose effects may outlast a round."""
_BY_ROUND = ("topicName", "groupId", "transactionalId", "resource_name")
_STAY = frozenset({"", "1", "__consumer_offsets", "no topic", "x" * 250})
# Configs that describe where a broker runs rather than how it behaves, by parts of their names.
_OWN_CONFIGS = ("listener", "log.dir", "node.id", "broker.id", "process.roles", "controller.", "security.", "rack")
_BROKER, _STATIC = 4, 4
_DESCRIBE_CONFIGS_VERSION = 4


class BrokersTarget:
    """Two brokers that should agree, ours first. `close` calls `closes` at the end."""

    name = "brokers"

    def __init__(self, ours: Side, theirs: Side, closes: Callable[[], None] = lambda: None) -> None:
        self._sides = (ours, theirs)
        self._closes = closes
        self._versions = (ours.versions(), theirs.versions())
        self._round = int.from_bytes(os.urandom(2), "big")  # Brokers may remember the names of an earlier run.
        self._given: list[bytes] = []
        self._steady: set[str] = set()
        self._has_diverged = False
        self._diverged_by = ""
        self.reset()

    @property
    def remarks(self) -> Sequence[str]:
        """Return the APIs and versions that are left out because only one broker serves them."""
        ours, theirs = self._versions
        rows = (("ours", ours, theirs), ("the other broker", theirs, ours))
        told = [(name, _only(some, others)) for name, some, others in rows]
        return [f"left out, for only {name} serves it: {', '.join(found)}" for name, found in told if found]

    @property
    def before(self) -> Sequence[bytes]:
        """Return the frames of this round, without the last."""
        return self._given[:-1]

    def reset(self) -> None:
        """Begin a round."""
        self._round += 1
        self._given = []
        self._has_diverged = False
        for side in self._sides:
            side.begin(self._round)

    def close(self) -> None:
        """Delete the names that were created at the other broker, close the links, and stop ours."""
        with suppress(Fault):
            self._sides[1].forget()
        for side in self._sides:
            side.close()
        self._closes()

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
        if self._has_diverged or len(self._given) >= ROUND_FRAMES:
            self.reset()
        self._given.append(data)
        outcome, found = self._compare_until_stable(data)
        api = _api_name(data)
        if any(each.cause(api) not in self._steady for each in found):
            found = self._reproduced(found, api)
            if not found:
                self._has_diverged = True
                return "unsteady"
        faults = [self._fault(frame, api, each) for each in found if not _is_meant(each, api, data)]
        if found and api not in _READ_ONLY_APIS:
            self._has_diverged = True
            if api in _OF_CLUSTER and not self._diverged_by:
                self._diverged_by = f"{api} of frame {frame.number} ({found[0].told})"
        if faults:
            faults[0].others = tuple(faults[1:])
            raise faults[0]
        return f"meant: {found[0].cause(api)}" if found else outcome

    def _is_left_out(self, data: bytes) -> bool:
        """Return whether only one of them lists the API in this version."""
        key, version = key_and_version(data)
        serve = [first <= version <= last for first, last in (each.get(key, (0, -1)) for each in self._versions)]
        return serve[0] is not serve[1]

    def _fault(self, frame: Frame, api: str, found: Difference) -> Fault:
        story = list(frame.story)
        if self._diverged_by:
            story.append(f"state that outlives a round may differ since an earlier one, because of {self._diverged_by}")
        return Fault(FaultKind.DIFFERS, found.told, found.cause(api), f"as the other broker: {found.theirs}", story)

    def _reproduced(self, found: Sequence[Difference], api: str) -> list[Difference]:
        """Return the differences that the same frames show again in another round."""
        *before, last = given = self._given
        self.reset()
        for data in before:
            self._exchanged(data)
        self._given = given
        causes = {each.cause(api) for each in self._compare_until_stable(last)[1]}
        again = [each for each in found if each.cause(api) in causes]
        self._steady |= {each.cause(api) for each in again}
        return again

    def _compare_until_stable(self, data: bytes) -> tuple[str, list[Difference]]:
        """Return outcome and differences; repeat the request while time alone may end differences not seen before."""
        outcome, found = self._compared(data)
        api = _api_name(data)
        for pause in _PAUSES_S:
            reset = [each for each in found if each.cause(api) not in self._steady]
            if not any(api in _READ_ONLY_APIS or {each.ours, each.theirs} & _TEMPORARY for each in reset):
                break
            time.sleep(pause)
            outcome, found = self._compared(data)
        return outcome, found

    def _compared(self, data: bytes) -> tuple[str, list[Difference]]:
        """Send the request to both; return the outcome of the other broker, and the differences."""
        ours, theirs = self._exchanged(data)
        told = [_outcome(side.name, data, seen) for side, seen in zip(self._sides, (ours, theirs), strict=True)]
        if ours.how is not theirs.how:
            return told[1], [Difference("", _in_words(data, ours), _in_words(data, theirs))]
        if ours.how is not How.ANSWERED:
            return told[1], []
        answers = [_decoded(data, seen.answer) for seen in (ours, theirs)]
        rounds = other_rounds(ours.answer + theirs.answer)
        (version, left), (other, right) = answers
        if version != other:
            return told[1], [Difference("", f"an answer in v{version}", f"an answer in v{other}")]
        return told[1], differences(_api_name(data), left, right, MARK, rounds)

    def _exchanged(self, data: bytes) -> tuple[Seen, Seen]:
        """Send the request to both at once, and return the reaction of each."""
        has_answer = not _wants_no_answer(data)
        for side in self._sides:
            side.send(data, has_answer=has_answer)
        patience = _WAITS_S if has_answer and may_block(data, PATIENCE_S) else PATIENCE_S
        come = [side.has_come(patience) for side in self._sides]
        if any(come) and not all(come):
            self._sides[come.index(False)].has_come(_LATE_S)
        ours, theirs = (side.seen(data) for side in self._sides)
        return ours, theirs


def _api_name(data: bytes) -> str:
    api = find_key(key_and_version(data)[0])
    return "no API" if api is None else api.name


def _outcome(name: str, data: bytes, seen: Seen) -> str:
    """Return the outcome of a broker's reaction; raises `Fault`, with its name, for an invalid response."""
    if seen.how is How.ANSWERED:
        try:
            return judge_response(data, seen.answer)
        except Fault as fault:
            raise Fault(fault.kind, f"{name}: {fault.told}", f"{name}: {fault.cause}", fault.expected) from None
    return {How.CLOSED: "closed", How.SILENT: "waits", How.NOTHING: "taken, without an answer"}[seen.how]


def _decoded(data: bytes, answer: bytes) -> tuple[int, Message]:
    """Return the version of a response that `judge_response` has accepted, and the response."""
    key, version = key_and_version(data)
    api = find_key(key)
    assert api is not None, "judged"
    if api.name == "ApiVersions" and answer[4:6] == ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big"):
        version = 0  # Every client can read version 0 (KIP-511).
    at = peek_response(answer, key, version).body_position
    return version, api.response.decode_prefix(answer, version, at)[0]


def _in_words(data: bytes, seen: Seen) -> str:
    if seen.how is not How.ANSWERED:
        return str(seen.how.value)
    found = summary(list(codes(_decoded(data, seen.answer)[1])))
    return f"{seen.how.value} with {found}"


def _is_meant(found: Difference, api: str, data: bytes) -> bool:
    return reason_of(found.cause(api), data, BROKER_REASONS) is not None


def _wants_no_answer(data: bytes) -> bool:
    if key_and_version(data)[0] != key_of(ProduceRequest):
        return False
    try:
        body = decode_request(data).body
    except ProtocolError:
        return False
    return isinstance(body, ProduceRequest) and body.acks == Acks.NONE


def _only(some: Versions, others: Versions) -> list[str]:
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


def open_target(wanted: TargetOptions) -> tuple[BrokersTarget, Stream]:
    """Return a kmirror broker, started here, with the one at `wanted.bootstrap_server`, and requests for both.

    Raises `UsageError` for a broker beyond loopback, unless `owns_host` is set, and for one that is not alone or has
    topics.
    """
    if wanted.bootstrap_server is None:
        raise UsageError("the target brokers needs --bootstrap-server HOST:PORT, the broker to compare with")
    for name in wanted.messages:
        by_api_name(name.removesuffix("Request"))
    theirs = Side("theirs", *checked_address(wanted.bootstrap_server, owns_host=wanted.owns_host))
    cluster: TcpCluster | None = None
    try:
        check_alone(theirs, NODE_ID)
        cluster = TcpCluster(brokers=1, configs={**SERVED, **_configs(theirs)}, mirror_version=0)
        cluster.start()
        endpoint = cluster.endpoint(NODE_ID)
        target = BrokersTarget(Side("ours", endpoint.host, endpoint.port), theirs, cluster.close)
        return target, stream(wanted.seed, target.messages(wanted.messages))
    except BaseException as error:
        theirs.close()
        if cluster is not None:
            cluster.close()
        if isinstance(error, Fault):
            raise UsageError(error.told) from None
        raise


def stream(seed: int, messages: tuple[type[Message], ...]) -> Stream:
    """Return the requests of a seed, with the mark in their names instead of a round."""
    made = requests(seed, topic_ids=[TOPIC_ID])
    return replace(made, messages=messages, vocabulary=replace(made.vocabulary, words=_words(made.vocabulary.words)))


def _words(words: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Return the words, with the mark appended to those that are names."""
    changed = {key: tuple(each if each in _STAY else each + MARK for each in words[key]) for key in _BY_ROUND}
    return MappingProxyType({**words, **changed})


def _configs(side: Side) -> dict[str, str]:
    """Return the configs set at a broker that ours knows, without those of its location; ours is started with them."""
    resource = DescribeConfigsResource(resource_type=_BROKER, resource_name=str(NODE_ID), configuration_keys=None)
    found: Any = side.ask(DescribeConfigsRequest(resources=[resource]), _DESCRIBE_CONFIGS_VERSION)
    rows = known(Scope.BROKER)
    return {
        row.name: row.value
        for row in found.results[0].configs
        if row.name in rows and row.value is not None and (row.config_source == _STATIC or row.name in SERVED)
        and not any(word in row.name for word in _OWN_CONFIGS)
    }  # fmt: skip
