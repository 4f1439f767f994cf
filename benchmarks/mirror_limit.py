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


def send(path: Path, listener: socket.socket) -> None:
    """Send the next part of a file for each received byte; end when the connection is closed."""
    position = 0
    connection, _ = listener.accept()
    with connection, path.open("rb") as file, select.epoll() as epoll:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        epoll.register(connection, select.EPOLLIN)
        while connection.recv(1):
            connection.setblocking(False)
            epoll.modify(connection, select.EPOLLOUT)
            end = position + ANSWER_BYTES
            while position < end:
                epoll.poll()
                position += os.sendfile(connection.fileno(), file.fileno(), position, end - position)
            epoll.modify(connection, select.EPOLLIN)
            connection.setblocking(True)


def cpu_s(log_bytes: int, batch_bytes: int) -> float:
    """Return the processor time for `log_bytes` bytes of log, in seconds."""
    crc32c, buffer = crc32c_function(), memoryview(bytearray(ANSWER_BYTES))
    buffer[:] = bytes(ANSWER_BYTES)  # So that each page is mapped.
    with _source(log_bytes) as connection, _files() as files, select.epoll() as epoll:
        epoll.register(connection, select.EPOLLIN)
        started_at = time.process_time()
        for _ in range(log_bytes // ANSWER_BYTES):
            connection.send(b"\0")
            received = 0
            while received < ANSWER_BYTES:
                epoll.poll()
                received += connection.recv_into(buffer[received:])
            for number, file in enumerate(files):
                part = buffer[number * PART_BYTES : (number + 1) * PART_BYTES]
                for begin in range(0, PART_BYTES, batch_bytes):
                    crc32c(part[begin : begin + batch_bytes])
                os.write(file, part)
        return time.process_time() - started_at


@contextmanager
def _source(log_bytes: int) -> Iterator[socket.socket]:
    path = scratch() / "limit-source"
    path.write_bytes(os.urandom(ANSWER_BYTES) * (log_bytes // ANSWER_BYTES))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = multiprocessing.get_context("spawn").Process(target=send, args=(path, listener))
        process.start()
        with socket.create_connection(listener.getsockname()) as connection:
            connection.setblocking(False)
            yield connection
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
