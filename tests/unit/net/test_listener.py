"""Limits of connections: ports, `max.connections` and related configs, `connections.max.idle.ms`."""

from __future__ import annotations

import asyncio
import socket

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.events import LinkClosed, LinkOpened
from kmirror.net import host as hosts
from kmirror.net.host import Host
from kmirror.net.listener import Port
from kmirror.net.options import LinkOptions
from kmirror.spec.configs import Scope, broker_configs, problem_with
from tests.unit.net.hosting import Recorder, run_with_host


def started(host: Host, options: LinkOptions) -> tuple[Recorder, Port]:
    node, port = Recorder(), Port("127.0.0.1", 0)
    host.add("n", lambda: node, ports=[(port.listener("P"), port)], options=options)
    host.start("n")
    return node, port


async def connected(port: Port) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(*port.endpoint)


def test_a_port_is_kept_without_a_listener() -> None:
    port = Port("127.0.0.1", 0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(port.endpoint, timeout=5)
    listening = port.listen(5)
    socket.create_connection(port.endpoint, timeout=5).close()
    listening.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(port.endpoint, timeout=5)
    port.listen(5).close()
    port.close()


def test_a_port_in_use_is_refused_with_a_remedy() -> None:
    taken = Port("127.0.0.1", 0)
    listening = taken.listen(5)
    with pytest.raises(UsageError, match=rf"cannot listen at {taken.endpoint}: .* choose another port, or 0"):
        Port("127.0.0.1", taken.endpoint.port)
    listening.close()
    taken.close()


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_a_foreign_address_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="cannot listen at"):
        Port(host, 0)


def test_more_connections_from_one_address_are_closed_at_once() -> None:
    async def script(host: Host) -> None:
        node, port = started(host, LinkOptions(links_per_ip_max=9, links_per_ip={"127.0.0.1": 2}))
        kept = [await connected(port) for _ in range(2)]
        reader, writer = await connected(port)
        assert await reader.read() == b""
        assert len(node.of(LinkOpened)) == 2
        kept[0][1].close()
        await host.until(lambda: len(node.of(LinkClosed)) == 1)
        third = await connected(port)  # There is room for one again.
        await host.until(lambda: len(node.of(LinkOpened)) == 3)
        for each in (writer, kept[1][1], third[1]):
            each.close()
        port.close()

    run_with_host(script)


def test_connections_above_the_limit_wait_for_a_place() -> None:
    async def script(host: Host) -> None:
        node, port = started(host, LinkOptions(links_max=1))
        _, first = await connected(port)
        _, second = await connected(port)  # The system accepts it; the node is not notified.
        await host.until(lambda: bool(node.of(LinkOpened)))
        assert len(node.of(LinkOpened)) == 1
        first.close()
        await host.until(lambda: len(node.of(LinkOpened)) == 2)
        kinds = [type(event) for event in node.events if isinstance(event, LinkOpened | LinkClosed)]
        assert kinds == [LinkOpened, LinkClosed, LinkOpened]
        second.close()
        port.close()

    run_with_host(script)


def test_an_idle_connection_is_closed_and_one_in_use_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "SWEEP_INTERVAL_S", 0.005)

    async def script(host: Host) -> None:
        node, port = started(host, LinkOptions(idle_max=100 * MILLISECOND))
        reader, idle = await connected(port)
        _, busy = await connected(port)
        await host.until(lambda: len(node.of(LinkOpened)) == 2)
        names = [event.link for event in node.of(LinkOpened)]
        is_over = asyncio.Event()

        async def chatter() -> None:
            while not is_over.is_set():
                busy.write(b"\0\0\0\0")
                await busy.drain()
                await asyncio.sleep(0.005)

        talking = asyncio.ensure_future(chatter())
        assert await reader.read() == b""
        assert [event.link for event in node.of(LinkClosed)] == names[:1]
        is_over.set()
        await talking
        idle.close()
        busy.close()
        port.close()

    run_with_host(script)


def test_options_are_read_from_kafkas_keys() -> None:
    configs = {
        "socket.request.max.bytes": "1000",
        "connections.max.idle.ms": "7",
        "max.connections": "5",
        "max.connections.per.ip": "4",
        "max.connections.per.ip.overrides": "127.0.0.1:3, ::1:2",
    }
    options = LinkOptions.from_configs(broker_configs(configs, {}))
    assert (options.request_bytes_max, options.idle_max, options.links_max) == (1000, 7_000, 5)
    assert [options.limit_for(address) for address in ("127.0.0.1", "::1", "10.0.0.1")] == [3, 2, 4]
    assert LinkOptions.from_configs(broker_configs({}, {})) == LinkOptions()


@pytest.mark.parametrize("value", ["127.0.0.1", "127.0.0.1:x", ":5", "a:1,,b:2", "a:-1"])
def test_overrides_are_pairs(value: str) -> None:
    assert "address:count" in (problem_with(Scope.BROKER, "max.connections.per.ip.overrides", value) or "")
