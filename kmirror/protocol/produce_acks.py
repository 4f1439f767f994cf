"""Reading `acks` of a Produce request without decoding the rest."""

from __future__ import annotations

from kmirror.errors import ProtocolError
from kmirror.protocol import wire
from kmirror.protocol.headers import RequestHead
from kmirror.protocol.registry import by_key
from kmirror.protocol.wire import Buffer

_TRANSACTIONAL_FROM = 3
_int16 = wire.fused("h")[0]


def produce_acks(frame: Buffer, head: RequestHead) -> int:
    """Return `acks` of a Produce request; 0 means no response. Raises ProtocolError if the bytes end before it."""
    position = head.body_position
    try:
        if by_key(head.api_key).is_flexible(head.api_version):
            size, position = wire.read_uvarint(frame, position)
            position += max(size - 1, 0)
        elif head.api_version >= _TRANSACTIONAL_FROM:
            (size,) = _int16(frame, position)
            position += 2 + max(size, 0)
        (acks,) = _int16(frame, position)
    except wire.READ_ERRORS:
        raise ProtocolError("a Produce request ends before its acks", position=position, field="acks") from None
    return int(acks)
