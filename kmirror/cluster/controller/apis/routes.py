"""Request handlers of the controller, and the requests that it decides with records in the metadata log."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kmirror.cluster.controller.apis import (
    allocate_producer_ids,
    alter_configs,
    alter_partition,
    api_versions,
    assign_replicas_to_dirs,
    broker_heartbeat,
    broker_registration,
    create_partitions,
    create_topics,
    delete_topics,
    describe_quorum,
    envelope,
    fetch,
    fetch_snapshot,
    incremental_alter_configs,
    update_features,
)
from kmirror.cluster.controller.context import Commit, ControllerContext
from kmirror.cluster.controller.decisions import Decide, DecideAndCommit
from kmirror.cluster.controller.sessions import BrokerSessions
from kmirror.cluster.server import Routes
from kmirror.protocol.gen.allocate_producer_ids_request import AllocateProducerIdsRequest
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_snapshot_request import FetchSnapshotRequest
from kmirror.protocol.gen.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kmirror.protocol.gen.update_features_request import UpdateFeaturesRequest
from kmirror.protocol.message import Message


def routes(context: ControllerContext, sessions: BrokerSessions, commit: Commit, decide: DecideAndCommit) -> Routes:
    """Return the handlers of requests that are not decisions; those are in DECISIONS."""
    return {
        FetchRequest: partial(fetch.handle, context, sessions),
        FetchSnapshotRequest: partial(fetch_snapshot.handle, context),
        ApiVersionsRequest: partial(api_versions.handle, context),
        EnvelopeRequest: partial(envelope.handle, context, decide),
        BrokerRegistrationRequest: partial(broker_registration.handle, context, sessions, commit),
        BrokerHeartbeatRequest: partial(broker_heartbeat.handle, context, sessions),
    }


DECISIONS: Mapping[type[Message], Decide] = {
    CreateTopicsRequest: create_topics.decide,
    DeleteTopicsRequest: delete_topics.decide,
    CreatePartitionsRequest: create_partitions.decide,
    IncrementalAlterConfigsRequest: incremental_alter_configs.decide,
    AlterConfigsRequest: alter_configs.decide,
    AlterPartitionRequest: alter_partition.decide,
    AssignReplicasToDirsRequest: assign_replicas_to_dirs.decide,
    AllocateProducerIdsRequest: allocate_producer_ids.decide,
    UpdateFeaturesRequest: update_features.decide,
    DescribeQuorumRequest: describe_quorum.decide,
}
