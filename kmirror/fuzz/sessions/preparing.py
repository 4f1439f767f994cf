"""Preparation of a session: a kmirror broker, working coordinators, and a topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kmirror.errors import UsageError
from kmirror.fuzz.sessions.links import SimulatedLink
from kmirror.fuzz.sessions.machine import Requester
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CoordinatorType

TOPIC = "sessions"
"""The topic of all sessions."""
_TRIES_MAX = 2_000
_TEMPORARY_ERRORS = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
_LATEST = -1
_CONFIGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    # Otherwise a group without offsets would be removed during the session.
    "offsets.retention.check.interval.ms": "3000000",
}


def simulated_broker(seed: int, configs: Mapping[str, str], *, transaction_version: int = 2) -> SimulatedLink:
    """Return a link to a broker of a new cluster with one broker."""
    simulation = Simulation(seed=seed)
    cluster = Cluster(
        simulation, "sessions", brokers=1, configs={**_CONFIGS, **configs}, transaction_version=transaction_version
    )
    cluster.start()
    return SimulatedLink(simulation.world, {"": cluster.endpoint(1)})


def await_coordinator(broker: Requester, kind: CoordinatorType, key: str) -> None:
    """Wait until a group or transactional id has a working coordinator; raises `UsageError` if it has none in time."""
    for _ in range(_TRIES_MAX):
        found: Any = broker.ask(FindCoordinatorRequest(key=key, key_type=kind), 1)
        # A broker that is found may not know yet that it is the coordinator, or still load its log.
        if not found.error_code and _coordinator_error(broker, kind, key) not in _TEMPORARY_ERRORS:
            return
        broker.wait_briefly()
    raise UsageError(f"{key} has no coordinator")


def _coordinator_error(broker: Requester, kind: CoordinatorType, key: str) -> int:
    found: Any
    if kind is CoordinatorType.GROUP:
        found = broker.ask(DescribeGroupsRequest(groups=[key]), 0)
        return int(found.groups[0].error_code)
    found = broker.ask(DescribeTransactionsRequest(transactional_ids=[key]), 0)
    return int(found.transaction_states[0].error_code)


def prepare_topic(broker: Requester, partitions: int, name: str = TOPIC) -> None:
    """Create a topic unless it exists, and wait until it has leaders; raises `UsageError` if it has none in time."""
    # Records have timestamp 0; otherwise each marker, which has the current time, would roll the segment, and a fetch
    # ends with a segment.
    configs = {"segment.ms": str((1 << 63) - 1), "retention.ms": "-1"}
    rows = [CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=rows)
    metadata_request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    rows_requested = [ListOffsetsPartition(partition_index=index, timestamp=_LATEST) for index in range(partitions)]
    list_offsets_request = ListOffsetsRequest(topics=[ListOffsetsTopic(name=name, partitions=rows_requested)])
    found: Any = broker.ask(metadata_request, 4)
    if found.topics[0].error_code:
        broker.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 5)
    for _ in range(_TRIES_MAX):
        # A leader named by Metadata may not know yet that it leads.
        found = broker.ask(list_offsets_request, 1)
        if not any(row.error_code for row in found.topics[0].partitions):
            return
        broker.wait_briefly()
    raise UsageError(f"topic {name} has no leader")
