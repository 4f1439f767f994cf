"""The admin client over TCP: its errors if a cluster, or the client itself, cannot do the request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kmirror.admin.client import AsyncAdmin
from kmirror.client.admin import AdminConfigs
from kmirror.errors import KafkaError
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.describe_acls_request import DescribeAclsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

WITHIN_S = 20


def ask(
    body: Message, prepare: Callable[[AsyncAdmin], Any] = lambda admin: None, broker_id: int | None = None
) -> Message:
    async def send_request() -> Message:
        with TcpCluster(brokers=1) as cluster:
            async with AsyncAdmin(cluster.bootstrap_servers, AdminConfigs(default_api_timeout_ms=1000)) as admin:
                prepare(admin)
                return await asyncio.wait_for(admin.ask(body, broker_id=broker_id), WITHIN_S)

    return asyncio.run(send_request())


def test_a_request_that_no_node_supports_is_an_error() -> None:
    with pytest.raises(KafkaError, match="does not support the request DescribeAcls") as refused:
        ask(DescribeAclsRequest())
    assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_an_unknown_broker_is_not_available() -> None:
    with pytest.raises(KafkaError, match="has no broker 7") as refused:
        ask(MetadataRequest(), broker_id=7)
    assert refused.value.code is ErrorCode.BROKER_NOT_AVAILABLE


def test_a_bug_inside_the_client_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(admin: AsyncAdmin) -> None:
        def learn(*arguments: object) -> None:
            raise ZeroDivisionError("a bug")

        monkeypatch.setattr(admin._cluster, "record_versions", learn)

    with pytest.raises(ZeroDivisionError, match="a bug"):
        ask(MetadataRequest(), broken)
