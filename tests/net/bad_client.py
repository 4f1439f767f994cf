"""A Kafka client that sends ApiVersions three times, and has one fault; it uses only the standard library.

Without its fault it gives up after a response that is late, too long, or has another correlation id.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys

TIMEOUT_S = 0.2
LENGTH_MAX = 100_000_000


def ask(link: socket.socket, number: int) -> bytes:
    """Return the response to an ApiVersions of version 0, after its correlation id."""
    request = struct.pack(">hhih", 18, 0, number, -1)
    link.sendall(struct.pack(">i", len(request)) + request)
    (length,) = struct.unpack(">i", exactly(link, 4))
    if length > LENGTH_MAX and fault is reserves:
        bytearray(length)  # Never written to.
    if not 0 <= length <= LENGTH_MAX:
        sys.exit(0)
    response = exactly(link, length)
    if response[:4] != struct.pack(">i", number):
        sys.exit(0)
    return response[4:]


def exactly(link: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        try:
            chunk = link.recv(size - len(found))
        except (TimeoutError, ConnectionError):
            sys.exit(0)
        if not chunk:
            sys.exit(0)
        found += chunk
    return found


def loops(error: int, count: int, rest: bytes) -> None:
    while count:
        count -= 1  # Below zero there is no end.


def waits(error: int, count: int, rest: bytes) -> None:
    if count * 6 > len(rest):
        signal.pause()


def grows(error: int, count: int, rest: bytes) -> None:
    buffers = []
    for number in range(count):
        buffers.append(bytes([number % 256]) * (1 << 16))


def storms(error: int, count: int, rest: bytes) -> None:
    if error:
        for turn in range(2_000):
            ask(connection, turn)


def dies(error: int, count: int, rest: bytes) -> None:
    if count < 0:
        os.kill(os.getpid(), signal.SIGSEGV)


def gives_up(error: int, count: int, rest: bytes) -> None:
    if error:
        raise LookupError(f"error {error}")


def trusts(error: int, count: int, rest: bytes) -> None:
    """Wait for every response without a timeout."""


def reserves(error: int, count: int, rest: bytes) -> None:
    """Allocate all the memory that a length claims."""


def nothing(error: int, count: int, rest: bytes) -> None:
    pass


def fails(error: int, count: int, rest: bytes) -> None:
    sys.exit("it cannot even be run")


if __name__ == "__main__":
    fault = globals()[sys.argv[1]]
    host, _, port = sys.argv[2].rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.settimeout(None if fault is trusts else TIMEOUT_S)
        for turn in range(3):
            response = ask(connection, turn)
            if len(response) >= 6:
                fault(*struct.unpack_from(">hi", response), response[6:])
