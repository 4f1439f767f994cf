"""A journal's entries of effects that write on a link: number of bytes and checksum, and their line for people."""

from __future__ import annotations

import pytest

from kmirror.assembly.journal.events import effect_value, format_value
from kmirror.kernel.events import InboundLink, OutboundLink, Reply, ReplyBytes, Send
from kmirror.kernel.ids import Endpoint

IN, OUT = InboundLink(("client", 1)), OutboundLink(Endpoint("b", 9), "c")
WRITTEN = (Reply(IN, (b"123", b"456789")), ReplyBytes(IN, b"123456789"), Send(OUT, (b"123456789",)))


@pytest.mark.parametrize("effect", WRITTEN, ids=lambda effect: type(effect).__name__)
def test_writes_are_recorded_by_their_checksum(effect: Reply | ReplyBytes | Send) -> None:
    name = type(effect).__name__
    assert effect_value(effect)[0] == name
    assert format_value(effect_value(effect)) == f"{name} on {effect.link!r}: 9 bytes, CRC-32C e3069283"
