"""Handlers of a broker by request; requests that only the controller decides are forwarded.

Routes of transactions and mirrors are defined with their handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kmirror.cluster.broker.apis import (
    alter_configs,
    api_versions,
    delete_records,
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    describe_producers,
    describe_topic_partitions,
    fetch,
    find_coordinator,
    list_offsets,
    metadata,
    offset_for_leader_epoch,
    produce,
    write_txn_markers,
)
from kmirror.cluster.broker.forwarding import forward
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound, Routes
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.delete_records_request import DeleteRecordsRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest
from kmirror.protocol.gen.describe_log_dirs_request import DescribeLogDirsRequest
from kmirror.protocol.gen.describe_producers_request import DescribeProducersRequest
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest
from kmirror.protocol.gen.describe_topic_partitions_request import DescribeTopicPartitionsRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.offset_for_leader_epoch_request import OffsetForLeaderEpochRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.update_features_request import UpdateFeaturesRequest
from kmirror.protocol.gen.write_txn_markers_request import WriteTxnMarkersRequest
from kmirror.protocol.message import Message


def _forward(parts: BrokerParts, now: Instant, inbound: Inbound[Message]) -> None:
    forward(parts.context, now, inbound)


ROUTES: Mapping[type[Message], Callable[[BrokerParts, Instant, Inbound[Any]], None]] = {
    ProduceRequest: produce.handle,
    FetchRequest: fetch.handle,
    ListOffsetsRequest: list_offsets.handle,
    MetadataRequest: metadata.handle,
    DescribeTopicPartitionsRequest: describe_topic_partitions.handle,
    DescribeClusterRequest: describe_cluster.handle,
    FindCoordinatorRequest: find_coordinator.handle,
    ApiVersionsRequest: api_versions.handle,
    AlterConfigsRequest: alter_configs.handle,
    CreateTopicsRequest: _forward,
    DeleteRecordsRequest: delete_records.handle,
    DescribeConfigsRequest: describe_configs.handle,
    DescribeLogDirsRequest: describe_log_dirs.handle,
    DescribeProducersRequest: describe_producers.handle,
    DeleteTopicsRequest: _forward,
    CreatePartitionsRequest: _forward,
    OffsetForLeaderEpochRequest: offset_for_leader_epoch.handle,
    WriteTxnMarkersRequest: write_txn_markers.handle,
    IncrementalAlterConfigsRequest: alter_configs.handle,
    UpdateFeaturesRequest: _forward,
    DescribeQuorumRequest: _forward,
}


def routes(parts: BrokerParts) -> Routes:
    """Return the handlers of the broker with these parts."""
    return {request: partial(handler, parts) for request, handler in ROUTES.items()}
