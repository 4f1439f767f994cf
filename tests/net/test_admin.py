"""The admin client over TCP: its errors if a cluster, or the client itself, cannot do the request."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from kmirror.admin.client import AsyncAdmin
from kmirror.client.admin import AdminConfigs
from kmirror.errors import KafkaError
from kmirror.net.cluster import TcpCluster
from kmirror.net.listener import Port
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


@contextlib.contextmanager
def listener(reply: bytes) -> Iterator[str]:
    """Yield the address of a listener that answers the first bytes with `reply` and closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(1000)
                        connection.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(WITHIN_S)


@contextlib.contextmanager
def unused_port() -> Iterator[str]:
    port = Port("127.0.0.1", 0)
    port.close()
    yield str(port.endpoint)


TLS_ALERT = bytes.fromhex("15030300020246")


@pytest.mark.parametrize(
    ("servers", "text"),
    [
        (unused_port, r"cannot connect to 127\.0\.0\.1:\d+: connection refused$"),
        (
            partial(contextlib.nullcontext, "nohost.invalid:9092"),
            "cannot connect to nohost.invalid:9092: unknown host$",
        ),
        (partial(listener, b""), "closed the connection .* set security.protocol"),
        (partial(listener, TLS_ALERT), "closed the connection .* set security.protocol"),
    ],
    ids=["refused", "unknown host", "SASL", "TLS"],
)
def test_servers_that_cannot_be_used_are_an_error_at_once(
    servers: Callable[[], contextlib.AbstractContextManager[str]], text: str
) -> None:
    async def ask_for_brokers(address: str) -> None:
        async with AsyncAdmin(address) as admin:
            await asyncio.wait_for(admin.brokers(), WITHIN_S)

    with servers() as address, pytest.raises(KafkaError, match=text) as found:
        asyncio.run(ask_for_brokers(address))
    assert found.value.code is ErrorCode.NETWORK_EXCEPTION


def test_of_several_servers_one_is_enough() -> None:
    async def brokers() -> int:
        with TcpCluster(brokers=1) as cluster, unused_port() as unused:
            async with AsyncAdmin(f"{unused},{cluster.bootstrap_servers}") as admin:
                return len(await asyncio.wait_for(admin.brokers(), WITHIN_S))

    assert asyncio.run(brokers()) == 1


def test_a_bug_inside_the_client_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(admin: AsyncAdmin) -> None:
        def learn(*arguments: object) -> None:
            raise ZeroDivisionError("a bug")

        monkeypatch.setattr(admin._cluster, "record_versions", learn)

    with pytest.raises(ZeroDivisionError, match="a bug"):
        ask(MetadataRequest(), broken)
