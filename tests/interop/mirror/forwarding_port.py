"""A port that forwards to a broker, and later to another one, like a name or an address that operators move."""

from __future__ import annotations

import selectors
import socket
import threading
from typing import Self

BYTES_AT_ONCE = 1 << 16


class ForwardingPort:
    """Address of the brokers for applications: connections to `servers` are forwarded to the current broker.

    While there is none, connections are closed immediately.
    """

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.servers = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._to: tuple[str, int] | None = None
        self.connections = 0
        """Connections accepted since the current broker was set."""
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._bell, self._rung = socket.socketpair()
        self._selector.register(self._rung, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bell.close()
        self._thread.join()
        for one in (*self._pairs, self._listening, self._rung):
            one.close()
        self._selector.close()

    def lead_to(self, servers: str) -> None:
        """Forward to the first of these servers from now on; existing connections are closed."""
        host, _, port = servers.split(",")[0].rpartition(":")
        with self._lock:
            self._to = host, int(port)
            self.connections = 0
            for one in self._pairs:
                one.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._rung:
                    return
                with self._lock:
                    if key.fileobj is self._listening:
                        self._let_in()
                    elif key.fileobj in self._pairs:
                        assert isinstance(key.fileobj, socket.socket)
                        self._pass_on(key.fileobj)

    def _let_in(self) -> None:
        client, _ = self._listening.accept()
        self.connections += 1
        try:
            if self._to is None:
                raise ConnectionRefusedError
            broker = socket.create_connection(self._to)
        except OSError:
            client.close()
            return
        for one, other in ((client, broker), (broker, client)):
            self._pairs[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, one: socket.socket) -> None:
        other = self._pairs[one]
        try:
            if data := one.recv(BYTES_AT_ONCE):
                other.sendall(data)
                return
        except OSError:
            pass  # One side closed the connection in the middle of it.
        for each in (one, other):
            del self._pairs[each]
            self._selector.unregister(each)
            each.close()
