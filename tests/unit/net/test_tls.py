"""Links with TLS: frames both ways, of any size and in any pieces, and reasons of failed handshakes."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.events import CountLink, LinkClosed, OpenLink, OutboundLink, ResponseReceived, Send
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.tls import Store, TlsSettings
from kmirror.net.host import Host
from kmirror.net.tls import client_context
from tests.certificates import LONG_AGO, Authority, Identity
from tests.unit.net.hosting import Recorder, run_with_host

AUTHORITY = Authority()
BROKER = AUTHORITY.issue("broker", "127.0.0.1")
CLIENT = AUTHORITY.issue("client")
TRUSTED = Store("PEM", pem=AUTHORITY.pem)
OWN = Store("PEM", pem=CLIENT.chain_pem, key=CLIENT.key_pem())
SIZES = (0, 1, 100, 16_384, 16_385, 300_000, 3_000_000)


@contextlib.asynccontextmanager
async def serving(
    identity: Identity, folder: Path, *, wants_client: bool = False, cut: int = 1 << 20
) -> AsyncIterator[Endpoint]:
    """A server that sends each frame back, in pieces."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.write_pem(folder / "server.pem"))
    if wants_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=AUTHORITY.pem)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readexactly(4)
                frame = head + await reader.readexactly(int.from_bytes(head, "big"))
                for at in range(0, len(frame), cut):
                    writer.write(frame[at : at + cut])
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=context)
    try:
        yield Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()


def over_tls(script: Callable[[Host, Recorder], Awaitable[None]]) -> None:
    async def run(host: Host) -> None:
        node = Recorder()
        host.add("client", lambda: node)
        host.start("client")
        await script(host, node)

    run_with_host(run)


def ask(host: Host, to: Endpoint, settings: TlsSettings, *frames: tuple[bytes, ...]) -> OutboundLink:
    link = OutboundLink(to, "c")
    host.perform("client", [CountLink(link), OpenLink(link, settings), *(Send(link, chunks) for chunks in frames)])
    return link


@pytest.mark.parametrize("cut", [1 << 20, 1000])
@pytest.mark.parametrize("protocols", [("TLSv1.2",), ("TLSv1.3",)])
def test_frames_are_sent_in_both_directions(tmp_path: Path, protocols: tuple[str, ...], cut: int) -> None:
    async def script(host: Host, node: Recorder) -> None:
        async with serving(BROKER, tmp_path, wants_client=True, cut=cut) as to:
            frames = [bytes([n]) * size for n, size in enumerate(SIZES)]
            chunks = [(frame[: n * 10], memoryview(frame)[n * 10 :]) for n, frame in enumerate(frames)]
            link = ask(host, to, TlsSettings(TRUSTED, OWN, protocols=protocols), *chunks)
            await host.until(lambda: len(node.of(ResponseReceived)) == len(frames))
            assert [bytes(event.frame) for event in node.of(ResponseReceived)] == frames
            opened = host.processes["client"].outbound[link]
            assert opened._link.waiting_bytes == 0  # type: ignore[union-attr]
            counts = host.processes["client"].runner_metrics.links[link]
            assert (counts.opened.count, counts.secured.count, counts.not_secured.count) == (1, 1, 0)
            assert counts.operations.count > len(frames) and counts.wakeups.count > 0

    over_tls(script)


async def _reason(host: Host, node: Recorder, to: Endpoint, settings: TlsSettings) -> str:
    link = ask(host, to, settings, (b"?",))
    await host.until(lambda: bool(node.of(LinkClosed)))
    assert not node.of(ResponseReceived)
    counts = host.processes["client"].runner_metrics.links[link]
    assert counts.opened.count == counts.closed.count == counts.secured.count, (
        "with TLS 1.3 the server's refusal comes later"
    )
    return node.of(LinkClosed)[0].reason


@pytest.mark.parametrize(
    ("identity", "settings", "words"),
    [
        (BROKER, TlsSettings(Store("PEM", pem=Authority("nobody").pem), OWN), "certificate is not trusted"),
        (BROKER, TlsSettings(None, OWN), "certificate is not trusted"),
        (AUTHORITY.issue("b", "localhost"), TlsSettings(TRUSTED, OWN), "not valid for '127.0.0.1'"),
        (AUTHORITY.issue("b", "127.0.0.1", validity=LONG_AGO), TlsSettings(TRUSTED, OWN), "expired"),
        (BROKER, TlsSettings(TRUSTED), "TLS: .*certificate|closed it"),  # asyncio does not always send its alert.
        (BROKER, TlsSettings(Store("PEM", "/nowhere"), OWN), "ssl.truststore.location /nowhere cannot be read on this"),
    ],
)
def test_why_a_link_cannot_be_opened(identity: Identity, settings: TlsSettings, words: str, tmp_path: Path) -> None:
    async def script(host: Host, node: Recorder) -> None:
        async with serving(identity, tmp_path, wants_client=True) as to:
            why = await _reason(host, node, to, settings)
            assert re.search(words, why), why

    over_tls(script)


def test_certificates_in_the_trust_store_are_trusted_directly(tmp_path: Path) -> None:
    """Java requires no authority above it: the certificate of one broker, issued by another authority, suffices."""

    async def script(host: Host, node: Recorder) -> None:
        async with serving(BROKER, tmp_path) as to:
            ask(host, to, TlsSettings(Store("PEM", pem=BROKER.chain_pem)), (b"frame",))
            await host.until(lambda: bool(node.of(ResponseReceived)))
            assert not node.of(LinkClosed)

    over_tls(script)


def test_any_name_is_accepted_if_none_is_required(tmp_path: Path) -> None:
    async def script(host: Host, node: Recorder) -> None:
        async with serving(AUTHORITY.issue("b"), tmp_path) as to:
            ask(host, to, TlsSettings(TRUSTED, checks_host=False), (b"frame",))
            await host.until(lambda: bool(node.of(ResponseReceived)))

    over_tls(script)


@pytest.mark.parametrize("answer", [b"", b"\0\0\0\4what", b"\x15\x03\x03\0\2\2\x28"])
def test_a_server_without_tls(answer: bytes) -> None:
    async def script(host: Host, node: Recorder) -> None:
        async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answer)
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(say, "127.0.0.1", 0)
        to = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
        assert "TLS" in await _reason(host, node, to, TlsSettings(TRUSTED))
        server.close()
        await server.wait_closed()

    over_tls(script)


def test_a_node_of_the_same_host_is_not_contacted_without_tls() -> None:
    async def script(host: Host, node: Recorder) -> None:
        server = Recorder()
        here = Endpoint("127.0.0.1", 1)  # There is no listener: only links within the host work.
        host.add("server", lambda: server, local=[ListenerSpec.plain(here)])
        host.start("server")
        assert "cannot connect" in await _reason(host, node, here, TlsSettings(TRUSTED))
        assert len(server.events) == 1

    over_tls(script)


def write(path: Path, data: bytes | str) -> str:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def in_one_line(pem: str) -> str:
    """Return PEM in one line, as in many properties files; Kafka accepts it."""
    return " ".join(pem.splitlines())


def test_stores_of_every_form(tmp_path: Path) -> None:
    trusted = write(tmp_path / "t.p12", AUTHORITY.pkcs12("t"))
    own = write(tmp_path / "k.p12", CLIENT.pkcs12("k"))
    pem = write(tmp_path / "k.pem", "# words\n" + CLIENT.chain_pem + CLIENT.key_pem("k"))
    for settings in (
        TlsSettings(Store("PKCS12", trusted, password="t"), Store("JKS", own, password="k")),
        TlsSettings(Store("PEM", write(tmp_path / "t.pem", AUTHORITY.pem)), Store("PEM", pem, key_password="k")),
        TlsSettings(TRUSTED, Store("PEM", pem=CLIENT.chain_pem, key=CLIENT.key_pem("k"), key_password="k")),
        TlsSettings(
            Store("PEM", pem=in_one_line(AUTHORITY.pem)),
            Store("PEM", pem=in_one_line(CLIENT.chain_pem), key=in_one_line(CLIENT.key_pem("k")), key_password="k"),
        ),
        TlsSettings(TRUSTED, Store("PEM", write(tmp_path / "l.pem", in_one_line(CLIENT.chain_pem + CLIENT.key_pem())))),
    ):
        context = client_context(settings)
        assert len(context.get_ca_certs()) == 1 and context.verify_mode is ssl.CERT_REQUIRED


FORMS: dict[str, tuple[Callable[[Path], dict[str, Any]], str]] = {
    "jks": (
        lambda p: {"trusted": Store("JKS", write(p / "f", b"\xfe\xed\xfe\xed...."), password="hush")},
        "keytool -importkeystore",
    ),
    "pem as jks": (
        lambda p: {"trusted": Store("JKS", write(p / "f", AUTHORITY.pem))},
        "ssl.truststore.type is JKS: set",
    ),
    "wrong password": (
        lambda p: {"trusted": Store("PKCS12", write(p / "f", AUTHORITY.pkcs12("t")), password="hush")},
        "ssl.truststore.password is wrong",
    ),
    "no pkcs12": (lambda p: {"own": Store("PKCS12", write(p / "f", b"x"), password="hush")}, "is not a PKCS12 file"),
    "trust store for key store": (
        lambda p: {"own": Store("PKCS12", write(p / "f", AUTHORITY.pkcs12("t")), password="t")},
        "holds no private key",
    ),
    "no certificate": (lambda p: {"trusted": Store("PEM", pem="words")}, "holds no trusted certificate"),
    "a broken one": (
        lambda p: {"trusted": Store("PEM", pem="-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")},
        "cannot be read",
    ),
    "no key": (lambda p: {"own": Store("PEM", pem=CLIENT.chain_pem, key="words")}, "holds no private key"),
    "two keys": (
        lambda p: {"own": Store("PEM", pem=CLIENT.chain_pem, key=CLIENT.key_pem() * 2)},
        "holds 2 private keys, expected one",
    ),
    "no chain": (lambda p: {"own": Store("PEM", pem="words", key=CLIENT.key_pem())}, "holds no certificate"),
    "another key": (lambda p: {"own": Store("PEM", pem=BROKER.chain_pem, key=CLIENT.key_pem())}, "no key of its cert"),
    "no key password": (
        lambda p: {"own": Store("PEM", pem=CLIENT.chain_pem, key=CLIENT.key_pem("k"))},
        "is encrypted: set ssl.key.password",
    ),
    "a wrong key password": (
        lambda p: {"own": Store("PEM", pem=CLIENT.chain_pem, key=CLIENT.key_pem("k"), key_password="hush")},
        "a wrong password",
    ),
    "a folder": (lambda p: {"own": Store("PEM", str(p))}, "cannot be read on this broker"),
    "a NUL": (lambda p: {"own": Store("PEM", "\0")}, "cannot be read on this broker"),
}


@pytest.mark.parametrize("form", FORMS)
def test_invalid_stores_are_refused(form: str, tmp_path: Path) -> None:
    make, words = FORMS[form]
    with pytest.raises(UsageError, match=words) as caught:
        client_context(TlsSettings(**make(tmp_path)))
    assert "hush" not in str(caught.value)
