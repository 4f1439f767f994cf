"""Events and effects as values of a journal.

An event is stored completely, so that it can be passed to a node again. The exception is the result of disk work: only
its type is stored, and a replay runs the job itself. Of an effect only its distinguishing parts are stored: for frames,
their size and checksum.
"""

from __future__ import annotations

from typing import Any

from kmirror.errors import KmirrorError, ProtocolError
from kmirror.kernel.events import (
    CancelTimer,
    CloseLink,
    CountLink,
    DiskDone,
    DiskWork,
    Effect,
    Event,
    LinkClosed,
    LinkOpened,
    Note,
    OpenLink,
    Reply,
    ReplyBytes,
    RequestReceived,
    ResponseReceived,
    ResumeReading,
    Send,
    SetTimer,
    Started,
    Stop,
    Stopped,
    StopReading,
    TimerFired,
)
from kmirror.records.crc32c import crc32c

EffectValue = tuple[Any, ...]
"""An effect: its name, and the parts that distinguish it from others with that name."""
SHOWN_BYTES = 32


def event_value(event: Event) -> tuple[Any, ...]:
    """Return an event as a value."""
    match event:
        case Started() | Stop():
            return (type(event).__name__,)
        case LinkOpened(link, listener, principal, address):
            return ("LinkOpened", link, listener, principal, address)
        case RequestReceived(link, frame):
            return ("RequestReceived", link, frame)
        case ResponseReceived(link, frame):
            return ("ResponseReceived", link, frame)
        case LinkClosed(link, reason):
            return ("LinkClosed", link, reason) if reason else ("LinkClosed", link)
        case TimerFired(key):
            return ("TimerFired", key)
        case DiskDone(key, result, error):
            return ("DiskDone", key, type(result).__name__, None if error is None else _error_value(error))


def _error_value(error: Exception) -> tuple[Any, ...]:
    if isinstance(error, OSError) and error.errno is not None:
        name = error.filename if isinstance(error.filename, str) else None
        return error.errno, error.strerror or "", name
    return (str(error),)


def error_of(value: tuple[Any, ...]) -> Exception:
    """Return an error with the same text as the one that ended a job."""
    if len(value) == 1:
        return KmirrorError(value[0])
    return OSError(*value) if value[2] is not None else OSError(*value[:2])


_EVENTS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Started, Stop, LinkOpened, RequestReceived, ResponseReceived, LinkClosed, TimerFired)
}


def event_of(value: tuple[Any, ...]) -> Event:
    """Return the event of a value that is not a `DiskDone`; ProtocolError if it is invalid."""
    try:
        event: Event = _EVENTS[value[0]](*value[1:])
    except (KeyError, TypeError, IndexError):
        raise ProtocolError(f"unknown event {value!r} in a journal") from None
    return event


def effect_value(effect: Effect) -> EffectValue:
    """Return the journal's value of an effect."""
    match effect:
        case Send(link, chunks) | Reply(link, chunks):
            frame = b"".join(chunks)
            return type(effect).__name__, link, len(frame), crc32c(frame)
        case ReplyBytes(link, data):
            return "ReplyBytes", link, len(data), crc32c(data)
        case OpenLink(link, tls):
            return "OpenLink", link, repr(tls)  # The repr contains no secrets.
        case SetTimer(key, at):
            return "SetTimer", key, at
        case CancelTimer(key):
            return "CancelTimer", key
        case CloseLink(link) | StopReading(link) | ResumeReading(link) | CountLink(link):
            return type(effect).__name__, link
        case DiskWork(key, log_dir, job):
            return "DiskWork", key, log_dir, type(job).__name__
        case Stopped():
            return ("Stopped",)
        case Note(text):
            return "Note", text


def format_value(value: tuple[Any, ...]) -> str:
    """Return an event or an effect as a line of text."""
    if value[0] in ("Send", "Reply", "ReplyBytes"):
        return f"{value[0]} on {_short(value[1])}: {value[2]} bytes, CRC-32C {value[3]:08x}"
    return " ".join([value[0], *map(_short, value[1:])])


def _short(value: object) -> str:
    if isinstance(value, bytes) and len(value) > SHOWN_BYTES:
        return f"{len(value)} bytes, {value[:SHOWN_BYTES].hex()}..."
    return value.hex() if isinstance(value, bytes) else repr(value)
