"""Responses to admin clients: a Kafka broker's and kmirror's are equal, except for those listed with a reason."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kmirror.logdir.store import LogFolder
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.registry import by_key
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from manual import kafka_apis
from tests.interop.admin.script import SCRIPTS, Admin
from tests.interop.log.cluster import finish
from tests.interop.log.judge import Judge
from tests.interop.topics.session import RealPeer, SimulatedPeer

Outcomes = dict[str, dict[str, Any]]
"""The name of a script to the results of its steps, by label."""
CONFIGS = {
    "default.replication.factor": "1",
    "log.cleaner.dedupe.buffer.size": str(4 << 20),
    "log.initial.task.delay.ms": str(3_600_000),
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
WHERE = (
    "advertised.listeners",
    "controller.listener.names",
    "controller.quorum.voters",
    "listeners",
    "log.dirs",
    "process.roles",
)
"""Configs with the identity and address of the node."""
READ_AT_THE_START = ("max.connections", "max.connections.per.ip", "max.connections.per.ip.overrides")
"""Configs that are read-only here."""
MASKED = {"logDir": "a path", "totalBytes": "room", "usableBytes": "room", "producerId": "an id"}
_CONTROLLER = re.compile(r"controller \d+")
TIMES = ("lastTimestamp", "logAppendTimeMs", "transactionStartTimeMs")
RECENT_MS = 1_000_000_000_000
RESOURCES_LEFT_OUT = "log levels, client metrics and groups have no configs here"
DIFFERENT: Mapping[str, str] = {
    "describing: resource of type 8, DescribeConfigs 4": RESOURCES_LEFT_OUT,
    "describing: resource of type 16, DescribeConfigs 4": RESOURCES_LEFT_OUT,
    "describing: resource of type 32, DescribeConfigs 4": RESOURCES_LEFT_OUT,
}
"""Steps with a different result here, and the reasons; also in docs/reference/configs.md and docs/apis.md."""


def comparable(value: Any, name: str = "") -> Any:
    """Return a result without the values that differ between clusters."""
    if isinstance(value, Mapping):
        kept = {key: comparable(one, key) for key, one in value.items()}
        if kept.get("name") in (*WHERE, *READ_AT_THE_START) and "configSource" in kept:
            return {"name": kept["name"]}
        if "errorMessage" in kept and kept.get("errorCode"):
            kept["errorMessage"] = _words(kept["errorMessage"], kept["errorCode"])
        return kept
    if isinstance(value, list):
        return [comparable(one, name) for one in value]
    if name in TIMES and value > RECENT_MS:
        return "a time"
    if name == "batchIndexErrorMessage":
        return value.partition(" should be within")[0]
    return MASKED.get(name, value)


def _words(message: str | None, code: int) -> str | None:
    """Return a message; None if Kafka has none, or only its text for the error code, which kmirror does not repeat."""
    message = None if message is None else _CONTROLLER.sub("controller", message)
    own = message is None or message == ErrorCode(code).text or message in OF_THE_CODE.get(code, ())
    return None if own else message


OF_THE_CODE: Mapping[int, tuple[str, ...]] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ("This server does not host this topic-partition.",),
    ErrorCode.INVALID_REQUEST: (
        "This most likely occurs because of a request being malformed by the client library or the message was sent to "
        "an incompatible broker. See the broker logs for more details.",
    ),
}


def talk(peer: Any) -> Outcomes:
    found = {}
    for script in SCRIPTS:
        session = Admin(peer)
        script(session)
        found[script.__name__] = json.loads(json.dumps(comparable(session.outcomes)))
    return found


@pytest.fixture(scope="module")
def real(log_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPeer]:
    """Yield a broker of Kafka, formatted without eligible leader replicas."""
    folder = tmp_path_factory.mktemp("admin")
    (folder / "logs").mkdir()
    finish(LogFolder(folder / "logs"), {}, now_ms=1_700_000_000_000)
    with contextlib.closing(Judge(log_class_path, folder)) as judge:
        address = judge.start(folder / "logs", [], **CONFIGS)
        with contextlib.closing(RealPeer(address)) as peer:
            yield peer
        judge.stop()


@pytest.fixture(scope="module")
def theirs(real: RealPeer) -> Outcomes:
    return talk(real)


def differences(ours: Outcomes, theirs: Outcomes) -> list[str]:
    """Return the labels of the steps with a different result; for unknown ones also the difference."""
    found = []
    for script, steps in theirs.items():
        assert ours[script].keys() == steps.keys()
        for label, expected in steps.items():
            name, parts = f"{script}: {label}", list(parting(ours[script][label], expected))
            if parts:
                found.append(name if name in DIFFERENT else f"{name}: {'; '.join(parts)}")
    return found


def parting(said: Any, expected: Any, path: str = "") -> Iterator[str]:
    """Yield the differences of a result; an additional error message of kmirror is help, and no difference."""
    if isinstance(said, dict) and isinstance(expected, dict) and said.keys() == expected.keys():
        for key, value in said.items():
            if key != "errorMessage" or expected[key] is not None:
                yield from parting(value, expected[key], f"{path}.{key}")
    elif isinstance(said, list) and isinstance(expected, list) and len(said) == len(expected):
        for row, other in zip(said, expected, strict=True):
            yield from parting(row, other, f"{path}[{other.get('name', '')}]" if isinstance(other, dict) else path)
    elif said != expected:
        yield f"{path}: {said!r}, of Kafka {expected!r}"


def test_the_simulated_broker_responds_like_kafka(theirs: Outcomes) -> None:
    with Cluster(Simulation(1), "a", brokers=1, configs=CONFIGS, mirror_version=0, eligible_version=0) as cluster:
        assert "\n".join(differences(talk(SimulatedPeer(cluster)), theirs)) == "\n".join(DIFFERENT)


def test_so_does_the_one_on_a_tcp_port(theirs: Outcomes) -> None:
    with (
        TcpCluster(brokers=1, configs=CONFIGS, mirror_version=0, eligible_version=0) as cluster,
        contextlib.closing(RealPeer(cluster.bootstrap_servers)) as peer,
    ):
        assert "\n".join(differences(talk(peer), theirs)) == "\n".join(DIFFERENT)


def test_kafka_advertises_the_apis_in_the_manual(real: RealPeer) -> None:
    answer = real.ask(ApiVersionsRequest(client_software_name="c", client_software_version="1"), 4)
    assert isinstance(answer, ApiVersionsResponse)
    told = [(by_key(row.api_key).name, row.min_version, row.max_version) for row in answer.api_keys]
    assert told == [(row.name, row.first, row.last) for row in kafka_apis.ROWS]


def test_every_known_difference_is_in_the_manual() -> None:
    pages = [Path(__file__).parents[3] / "docs" / name for name in ("apis.md", "reference/configs.md")]
    text = " ".join(page.read_text("utf-8") for page in pages)
    for words in ("BROKER_LOGGER", "CLIENT_METRICS"):
        assert re.search(words, text), words
