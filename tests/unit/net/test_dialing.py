"""Timeout of a connection to an unresponsive peer: `socket.connection.setup.timeout.ms`, as in Kafka's client."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from kmirror.client.backoff import Backoff
from kmirror.kernel.events import LinkClosed, OutboundLink, ResponseReceived, Send
from kmirror.kernel.ids import Endpoint
from kmirror.net.host import Host
from kmirror.net.options import LinkOptions
from kmirror.spec.configs import broker_configs
from tests.unit.net.hosting import Recorder, run_with_host


def test_an_unresponsive_peer_is_given_up_with_its_pending_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(host: Host) -> None:
        loop, node = asyncio.get_running_loop(), Recorder()

        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readexactly(8))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        link = OutboundLink(Endpoint("127.0.0.1", server.sockets[0].getsockname()[1]), "x")
        host.add("n", lambda: node, options=LinkOptions(setup=Backoff(50, 150)))
        host.start("n")

        async def silent(opened: socket.socket, address: Any) -> None:
            await asyncio.Event().wait()

        async def told(count: int) -> str:
            host.perform("n", [Send(link, (b"lost",)) for _ in range(3)])
            await host.until(lambda: len(node.of(LinkClosed)) == count)
            return node.of(LinkClosed)[-1].reason

        with monkeypatch.context() as patched:
            patched.setattr(loop, "sock_connect", silent)
            for count, milliseconds in enumerate((50, 100, 150, 150), 1):
                text = f"cannot connect to {link.peer}: no answer within {milliseconds / 1000:g} s"
                assert await told(count) == text
        host.perform("n", [Send(link, (b"last",))])
        await host.until(lambda: bool(node.of(ResponseReceived)))
        assert bytes(node.of(ResponseReceived)[0].frame) == b"last", "those before were dropped with their links"
        await host.until(lambda: len(node.of(LinkClosed)) == 5)
        with monkeypatch.context() as patched:
            patched.setattr(loop, "sock_connect", silent)
            assert (await told(6)).endswith("no answer within 0.05 s"), "one success forgets the failures"
        server.close()
        await server.wait_closed()

    run_with_host(script)


def test_the_times_are_read_from_kafkas_keys() -> None:
    configs = {"socket.connection.setup.timeout.ms": "7", "socket.connection.setup.timeout.max.ms": "20"}
    assert LinkOptions.from_configs(broker_configs(configs, {})).setup == Backoff(7, 20)
