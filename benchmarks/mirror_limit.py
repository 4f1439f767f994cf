"""Minimum cost of a mirror: receive, check and write, with system calls and one library alone.

Another process sends a file like Kafka (`sendfile`, with its send buffer), a mebibyte of each of four partitions for
each request. The bytes are received into one buffer, the CRC-32C of their batches is computed, and each partition's
part is written to its file. Nothing is parsed, and no other node is notified.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import scratch
from kmirror.records.crc32c import crc32c_function

PARTITIONS = 4
PART_BYTES = 1 << 20
ANSWER_BYTES = PARTITIONS * PART_BYTES
SEND_BUFFER_BYTES = 102_400
"""Kafka's `socket.send.buffer.bytes`."""


def send(path: Path, listening: socket.socket) -> None:
    """Send the next part of a file for each received byte; end when the connection is closed."""
    at = 0
    connected, _ = listening.accept()
    with connected, path.open("rb") as file, select.epoll() as epoll:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        epoll.register(connected, select.EPOLLIN)
        while connected.recv(1):
            connected.setblocking(False)
            epoll.modify(connected, select.EPOLLOUT)
            end = at + ANSWER_BYTES
            while at < end:
                epoll.poll()
                at += os.sendfile(connected.fileno(), file.fileno(), at, end - at)
            epoll.modify(connected, select.EPOLLIN)
            connected.setblocking(True)


def cpu_s(log_bytes: int, batch_bytes: int) -> float:
    """Return the processor time for `log_bytes` bytes of log, in seconds."""
    crc32c, buffer = crc32c_function(), memoryview(bytearray(ANSWER_BYTES))
    buffer[:] = bytes(ANSWER_BYTES)  # So that each page is mapped.
    with _source(log_bytes) as connected, _files() as files, select.epoll() as epoll:
        epoll.register(connected, select.EPOLLIN)
        began = time.process_time()
        for _ in range(log_bytes // ANSWER_BYTES):
            connected.send(b"\0")
            got = 0
            while got < ANSWER_BYTES:
                epoll.poll()
                got += connected.recv_into(buffer[got:])
            for number, file in enumerate(files):
                part = buffer[number * PART_BYTES : (number + 1) * PART_BYTES]
                for begin in range(0, PART_BYTES, batch_bytes):
                    crc32c(part[begin : begin + batch_bytes])
                os.write(file, part)
        return time.process_time() - began


@contextmanager
def _source(log_bytes: int) -> Iterator[socket.socket]:
    path = scratch() / "limit-source"
    path.write_bytes(os.urandom(ANSWER_BYTES) * (log_bytes // ANSWER_BYTES))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        process = multiprocessing.get_context("spawn").Process(target=send, args=(path, listening))
        process.start()
        with socket.create_connection(listening.getsockname()) as connected:
            connected.setblocking(False)
            yield connected
        process.join()
    path.unlink()


@contextmanager
def _files() -> Iterator[list[int]]:
    paths = [scratch() / f"limit-{number}" for number in range(PARTITIONS)]
    files = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) for path in paths]
    try:
        yield files
    finally:
        for file, path in zip(files, paths, strict=True):
            os.close(file)
            path.unlink()
