"""One client's conversation with a cluster, and its results: equal for Kafka and kmirror.

Values that differ between clusters (ids, addresses, the broker reported as the controller) are replaced by names, and
rows in Kafka's arbitrary order are sorted. Everything else is compared unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.json_form import to_json
from kmirror.protocol.message import Message
from kmirror.sim.cluster import Cluster
from tests.net.wire import Wire
from tests.sim.cluster.random_requests import RawClient

PATIENCE_SECONDS = 30
Outcome = Any
"""The comparable part of a response, as JSON; None if the link was closed instead."""
ADDRESSES = {"host": "its host", "port": "its port", "clusterId": "its id", "controllerId": "a broker"}
NAMES = ("name", "topic", "topicName", "brokerId", "nodeId", "partitionIndex", "partitionId")
"""Fields to sort rows by: the first one that the rows have."""


class Peer(Protocol):
    """The cluster under test."""

    def ask(self, body: Message, version: int) -> Message | None:
        """Return one broker's response, or None if it closed the link."""
        ...

    def pause(self) -> None:
        """Let some time pass."""
        ...


class RealPeer:
    """A cluster behind a TCP port."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._server = bootstrap_servers.split(",")[0]
        self._wire: Wire | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the link; the next request opens another one."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def ask(self, body: Message, version: int) -> Message | None:
        if self._wire is None:
            self._wire = Wire(self._server)
        try:
            return self._wire.ask(body, version)
        except ConnectionResetError:
            self.close()
            return None

    def pause(self) -> None:
        time.sleep(0.1)


class SimulatedPeer:
    """A kmirror cluster in the simulator."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._raw = RawClient(cluster)

    def ask(self, body: Message, version: int) -> Message | None:
        return self._raw.ask(self._cluster.endpoint(1), body, version)

    def pause(self) -> None:
        self._cluster.simulation.run_for(span_s=0.1)


class Session:
    """Sends requests, and records the comparable part of each response under a label."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.outcomes: dict[str, Outcome] = {}
        self._ids: dict[str, str] = {}
        """A topic's id to its name in results."""

    def ask(self, label: str, body: Message, *versions: int) -> Message | None:
        """Send the request in each version, and record the responses; return the last one."""
        answer: Message | None = None
        for version in versions:
            answer = self._peer.ask(body, version)
            name = f"{label}, {body.NAME.removesuffix('Request')} {version}"
            assert name not in self.outcomes, f"two steps are called {name}"
            self.outcomes[name] = None if answer is None else self._comparable(to_json(answer, version))
        return answer

    def topic(self, name: str) -> Any:
        """Return the current metadata of a topic."""
        return self._described(name).topics[0]

    def topic_id(self, name: str) -> Uuid:
        """Return the id of an existing topic; later results show it by the topic's name."""
        found: Uuid = self.topic(name).topic_id
        self._ids.setdefault(str(found), f"the id of {name}")
        return found

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        """Wait until `is_so` is true for the broker."""
        for _ in range(10 * PATIENCE_SECONDS):
            if is_so():
                return
            self._peer.pause()
        raise AssertionError(f"{what}: not in {PATIENCE_SECONDS} s")

    def wait_for(self, *names: str) -> None:
        """Wait until these topics exist, each with a leader of every partition."""
        for name in names:
            self.wait(f"topic {name}", lambda name=name: self._is_led(name))  # type: ignore[misc]

    def wait_until_gone(self, *names: str) -> None:
        """Wait until no topics of these names exist."""
        for name in names:
            self.wait(f"no topic {name}", lambda name=name: self.topic(name).error_code == 3)  # type: ignore[misc]

    def _is_led(self, name: str) -> bool:
        found = self.topic(name)
        return not found.error_code and not any(row.error_code for row in found.partitions)

    def _described(self, name: str) -> MetadataResponse:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
        answer = self._peer.ask(asked, 12)
        assert isinstance(answer, MetadataResponse)
        return answer

    def _comparable(self, value: Outcome, name: str = "") -> Outcome:
        if isinstance(value, Mapping):
            return {key: self._comparable(one, key) for key, one in value.items()}
        if isinstance(value, list):
            rows = [self._comparable(one, name) for one in value]
            return sorted(rows, key=_order) if rows and isinstance(rows[0], dict) else rows
        if value is None or (name == "controllerId" and value < 0):
            return value
        if name == "topicId" and value != str(Uuid.ZERO):
            return self._ids.get(value, "an id")
        return ADDRESSES.get(name, value)


def _order(row: Mapping[str, Any]) -> tuple[str, str]:
    key = next((str(row[name]) for name in NAMES if row.get(name) is not None), "")
    return key, str(sorted(row.items()))


Part = Callable[[Session], None]
"""One part of the conversation."""
