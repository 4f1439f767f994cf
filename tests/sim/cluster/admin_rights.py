"""Authorizations of the common requests of admin clients: rows for test_authorization.

A row is a request, its version, the operations checked while all are allowed, the error if all are denied (none if the
response has no error), the additional checks in that case, and the role of the node.
"""

from __future__ import annotations

from typing import Any

from kmirror.cluster.authorizer import CLUSTER, Resource
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest, AlterConfigsResource
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_log_dirs_request import DescribeLogDirsRequest
from kmirror.protocol.gen.describe_producers_request import DescribeProducersRequest, TopicRequest
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.list_transactions_request import ListTransactionsRequest
from kmirror.spec.error_codes import ErrorCode as E
from kmirror.spec.wire_values import AclOperation as Op
from kmirror.spec.wire_values import ResourceType

T, M = Resource.topic("t"), Resource.mirror("m")
TX = Resource.transactional_id("tx")
DELETE = DeleteRecordsRequest(
    topics=[DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=0)])]
)
ALTER = AlterConfigsRequest(resources=[AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name="t")])
PRODUCERS = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0])])


def describe(kind: ResourceType, name: str) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    return DescribeConfigsRequest(resources=[resource])


OF_ADMINS: list[tuple[Any, ...]] = [
    (DELETE, 2, [(Op.DELETE, T)], E.TOPIC_AUTHORIZATION_FAILED),
    (describe(ResourceType.TOPIC, "t"), 4, [(Op.DESCRIBE_CONFIGS, T)], E.TOPIC_AUTHORIZATION_FAILED),
    (describe(ResourceType.BROKER, "1"), 4, [(Op.DESCRIBE_CONFIGS, CLUSTER)], E.CLUSTER_AUTHORIZATION_FAILED),
    (describe(ResourceType.MIRROR, "m"), 5, [(Op.DESCRIBE_CONFIGS, M)], E.MIRROR_AUTHORIZATION_FAILED),
    (DescribeLogDirsRequest(topics=None), 4, [(Op.DESCRIBE, CLUSTER)], E.CLUSTER_AUTHORIZATION_FAILED),
    (PRODUCERS, 0, [(Op.READ, T)], E.TOPIC_AUTHORIZATION_FAILED),
    (
        DescribeTransactionsRequest(transactional_ids=["tx"]),
        0,
        [(Op.DESCRIBE, TX)],
        E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ),
    (ListTransactionsRequest(), 2, []),
    # For forwarded requests the controller does the check.
    (ALTER, 2, []),
    (ALTER, 2, [(Op.ALTER_CONFIGS, T)], E.TOPIC_AUTHORIZATION_FAILED, (), "controller"),
]
