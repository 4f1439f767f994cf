"""The digest covers every line in order, including lines that are not stored."""

from __future__ import annotations

import hashlib

from kmirror.kernel.trace import HASHED_AT_ONCE, Trace


def test_equal_lines_have_equal_digests() -> None:
    one, other = Trace(), Trace()
    for trace in (one, other):
        trace.add(1, "a", "x")
        trace.add(2, "b", "y", b"payload")
    assert one.digest() == other.digest()
    assert (one.count, list(one.lines)) == (2, ["1 a x", "2 b y"])


def test_order_time_and_payload_count() -> None:
    digests = set()
    for lines in ([(1, b""), (2, b"")], [(2, b""), (1, b"")], [(1, b""), (3, b"")], [(1, b""), (2, b"z")]):
        trace = Trace()
        for now, payload in lines:
            trace.add(now, "a", "x", payload)
        digests.add(trace.digest())
    assert len(digests) == 4


def test_unstored_lines_count_for_the_digest() -> None:
    short, long = Trace(keep=1), Trace(keep=100)
    for trace in (short, long):
        for number in range(10):
            trace.add(number, "a", "x")
    assert len(short.lines) == 1
    assert short.digest() == long.digest()
    assert short.count == 10


def test_listeners_get_every_line() -> None:
    heard: list[tuple[int, str, str]] = []
    trace = Trace(keep=0)
    trace.listeners.append(lambda now, who, what: heard.append((now, who, what)))
    trace.add(7, "a", "x")
    assert heard == [(7, "a", "x")]


def test_the_digest_hashes_payloads_and_lines_in_large_pieces() -> None:
    trace, fed = Trace(), []

    class Counting:
        def __init__(self) -> None:
            self.hash = hashlib.sha256()
            self.hexdigest = self.hash.hexdigest

        def update(self, data: bytes) -> None:
            fed.append(len(data))
            self.hash.update(data)

    trace._hash = Counting()  # type: ignore[assignment]
    whole = hashlib.sha256()
    for number in range(3_000):
        payload = bytes(number)
        trace.add(number, "a", "x", payload)
        whole.update(payload + f"{number} a x\n".encode())
    assert trace.digest() == whole.hexdigest() == trace.digest()
    assert len(fed) < 100 and max(fed) < 2 * HASHED_AT_ONCE
