"""Metrics page for Prometheus at /metrics, with the part of HTTP/1.1 that a scrape needs.

A connection carries one request and one response, and is closed. Header sizes, times and connections are limited, so a
slow, silent or malformed peer costs only its own connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from kmirror.assembly.metrics import OPEN_METRICS_CONTENT_TYPE, PLAIN_CONTENT_TYPE, Metrics
from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint

PATH = "/metrics"
HEAD_BYTES_MAX = 16 << 10
CONNECTIONS_MAX = 32
"""Maximum concurrent connections; further connections are closed."""
WITHIN_S = 10.0
"""Seconds that a peer has to send its request, and again to take the response."""
LINGER_BYTES_MAX = 1 << 20
"""Maximum bytes read and dropped after the request, so that a peer that keeps sending can read the response."""
TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
LANDING = f'<!DOCTYPE html>\n<title>kmirror</title>\n<p><a href="{PATH}">Metrics</a></p>\n'
"""Page at /, as Prometheus recommends for exporters."""


class MetricsPage:
    """HTTP server of the page, from `start` to `close`; both must be called on the loop."""

    def __init__(self, read: Callable[[], Metrics]) -> None:
        self._read = read
        self._server: asyncio.Server | None = None
        self._connections = 0

    async def start(self, host: str, port: int) -> Endpoint:
        """Listen and return the endpoint; port 0 uses a free port. UsageError if the address is not available."""
        try:
            self._server = await asyncio.start_server(self._on_connected, host, port, limit=HEAD_BYTES_MAX)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            text = f"cannot listen at {Endpoint(host, port)} for metrics: {reason}"
            raise UsageError(f"{text}: choose another port, or 0 for a free one") from None
        return Endpoint(host, self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _on_connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= CONNECTIONS_MAX:
                await self._respond(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # The peer disconnected or is too slow; no response is possible.
        finally:
            self._connections -= 1
            writer.transport.abort()

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WITHIN_S)
        except asyncio.LimitOverrunError:
            head = b""
            status, content_type, body = (
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                TEXT,
                "The request header is too long.\n",
            )
        else:
            status, content_type, body = self._choose_page(head)
        text = body.encode()
        allow = "Allow: GET, HEAD\r\n" if status is HTTPStatus.METHOD_NOT_ALLOWED else ""
        writer.write(
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {content_type}\r\n"
            f"Content-Length: {len(text)}\r\n{allow}Connection: close\r\n\r\n".encode()
        )
        if not head.startswith(b"HEAD "):
            writer.write(text)
        await asyncio.wait_for(writer.drain(), WITHIN_S)
        await asyncio.wait_for(_finish(reader, writer), WITHIN_S)

    def _choose_page(self, head: bytes) -> tuple[HTTPStatus, str, str]:
        """Return status, content type and body of the response to a request head."""
        first, *fields = head.decode("latin-1").split("\r\n")
        parts = first.split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            return HTTPStatus.BAD_REQUEST, TEXT, "Not an HTTP/1.1 request.\n"
        method, target, _ = parts
        path = target.partition("?")[0]
        if path not in (PATH, "/"):
            return HTTPStatus.NOT_FOUND, TEXT, f"The metrics are at {PATH}.\n"
        if method not in ("GET", "HEAD"):
            return HTTPStatus.METHOD_NOT_ALLOWED, TEXT, f"Use GET for {path}.\n"
        if path == "/":
            return HTTPStatus.OK, HTML, LANDING
        accepts = (value for name, _, value in (field.partition(":") for field in fields) if name.lower() == "accept")
        open_metrics = any("application/openmetrics-text" in value for value in accepts)
        return (
            HTTPStatus.OK,
            OPEN_METRICS_CONTENT_TYPE if open_metrics else PLAIN_CONTENT_TYPE,
            self._read().page(open_metrics=open_metrics),
        )


async def _finish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close the write side and wait for the peer to close; otherwise unread data could reset the connection."""
    with suppress(OSError):
        writer.write_eof()
    left = LINGER_BYTES_MAX
    while left > 0 and (dropped := await reader.read(64 << 10)):
        left -= len(dropped)
