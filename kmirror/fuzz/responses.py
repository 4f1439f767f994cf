"""Judgement of a broker's response: its outcome, or the fault in it."""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.errors import ProtocolError
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.target import TAKEN
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import peek_request, peek_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import find_key
from kmirror.protocol.structs import Struct
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

_CODES_MAX = 64
_NO_CODE, _CODE_MAX = -2, 1_000
# After the last two a topic is being created, for a client that asks again.
_UNSUPPORTED_VERSION = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")
_NOT_REFUSALS = {
    str(int(code)) for code in (ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.COORDINATOR_NOT_AVAILABLE)
}


_WAITING_APIS = frozenset(API_KEYS[name] for name in ("Fetch", "JoinGroup", "SyncGroup", "ShareFetch"))
"""Keys of APIs that may wait for as long as the request says, or for other members."""
_PRODUCE = API_KEYS["Produce"]


def key_and_version(request: bytes) -> tuple[int, int]:
    """Return the API key and the version of a request header; -1 for a field that the frame is too short for."""
    key = int.from_bytes(request[:2], "big", signed=True) if len(request) >= 2 else -1
    version = int.from_bytes(request[2:4], "big", signed=True) if len(request) >= 4 else -1
    return key, version


def may_block(request: bytes, timeout_s: float) -> bool:
    """Return whether a request may have neither a response nor a closed link after `timeout_s` seconds."""
    key, _ = key_and_version(request)
    if key != _PRODUCE:
        return key in _WAITING_APIS
    produce = _read_produce(request)
    if produce is None:  # A broker that reads more than we do may find acks=0.
        return True
    # Only acks=all waits for other brokers, for up to timeout_ms; any other Produce is done at once.
    waits_for_replicas = produce.acks == Acks.ALL and produce.timeout_ms > timeout_s * 1000
    return produce.acks == Acks.NONE or waits_for_replicas


def _read_produce(request: bytes) -> ProduceRequest | None:
    """Return the Produce in a frame, trailing bytes ignored; None if it cannot be read."""
    try:
        head = peek_request(request)
        body, _ = ProduceRequest.decode_prefix(request, head.api_version, head.body_position)
    except ProtocolError:
        return None
    return body


def judge_response(request: bytes, response: bytes) -> str:
    """Return "taken" if a response has no error code, else its error codes; raises `Fault` if it is invalid."""
    key, version = key_and_version(request)
    api = find_key(key)
    if api is not None and api.name == "ApiVersions" and response[4:6] == _UNSUPPORTED_VERSION:
        version = 0  # Every client can read version 0 (KIP-511).
    if api is None or not api.min_version <= version <= api.max_version:
        raise Fault(FaultKind.TAKEN, f"an answer to API {key} v{version}", "answer to no API", "a closed link")
    if response[:4] != request[4:8]:
        description = f"correlation id {response[:4].hex()} for {request[4:8].hex()}"
        raise Fault(FaultKind.DIFFERS, description, "correlation id", "the id of the request")
    try:
        at = peek_response(response, key, version).body_position
        body, end = api.response.decode_prefix(response, version, at)
    except ProtocolError as error:
        raise Fault(FaultKind.REFUSED, f"the answer cannot be read: {error}", f"answer of {api.name}", "") from None
    produce = _read_produce(request) if key == _PRODUCE else None
    if produce is not None and produce.acks == Acks.NONE:
        raise Fault(FaultKind.TAKEN, "a Produce with acks=0 is answered", "answer to acks=0", "no answer")
    if end < len(response):
        description = f"{len(response) - end} bytes are left over behind the answer of {api.name} v{version}"
        raise Fault(
            FaultKind.REFUSED,
            description,
            f"bytes behind the answer of {api.name}",
            "an answer that is read to its end",
        )
    found = sorted(set(codes(body)))
    if found and not _NO_CODE < found[0] <= found[-1] <= _CODE_MAX:
        raise Fault(FaultKind.TAKEN, f"error codes {found}", f"no error code in {api.name}", f"from -1 to {_CODE_MAX}")
    return TAKEN if found in ([], [0]) else f"codes {' '.join(map(str, found))}"


def codes(body: Message) -> Iterator[int]:
    """Yield the error codes of a response and of its nested structs, about 64 at most."""
    left: list[Struct] = [body]
    seen = 0
    while left and seen < _CODES_MAX:
        part = left.pop()
        for field in part.FIELDS:
            value = getattr(part, field.attribute)
            if field.attribute == "error_code":
                seen += 1
                yield value
            elif field.struct is not None and value:
                left += value if field.is_array else [value]


def is_refusal(outcome: str) -> bool:
    """Return whether an outcome means that nothing was done: it has codes, and none of `_NOT_REFUSALS`."""
    return outcome.startswith("codes ") and not _NOT_REFUSALS & set(outcome.split()[1:])
