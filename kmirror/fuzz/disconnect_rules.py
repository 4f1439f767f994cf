"""Valid requests over which a broker may close the link, one row for each reason, as in Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.stream import Frame
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import DecodedRequest, decode_request, decode_response, encode_request
from kmirror.protocol.registry import by_key, key_of
from kmirror.spec.wire_values import Acks

Versions = Mapping[int, tuple[int, int]]
"""API key to the first and the last version that a broker lists in ApiVersions."""

_PRODUCE = key_of(ProduceRequest)
_PRODUCE_VERSION_MIN = 3


class DisconnectRule(NamedTuple):
    """A reason for which a broker may close the link over a valid request, and a predicate for such requests."""

    reason: str
    applies: Callable[[DecodedRequest, Versions], bool]


def _is_not_listed(request: DecodedRequest, versions: Versions) -> bool:
    first, last = versions.get(request.head.api_key, (0, -1))
    return not first <= request.head.api_version <= last


DISCONNECT_RULES: tuple[DisconnectRule, ...] = (
    DisconnectRule("ApiVersions does not list this API, or not this version of it", _is_not_listed),
    DisconnectRule(
        "Produce below version 3 is listed, because librdkafka looks for it, but not served (KAFKA-18659)",
        lambda request, versions: request.head.api_key == _PRODUCE and request.head.api_version < _PRODUCE_VERSION_MIN,
    ),
    DisconnectRule(
        "a Produce with acks=0 has no answer that could contain an error",
        lambda request, versions: isinstance(request.body, ProduceRequest) and request.body.acks == Acks.NONE,
    ),
)


def api_versions_request() -> bytes:
    """Return the ApiVersions request whose response `read_versions` reads."""
    return encode_request(ApiVersionsRequest(), 0, correlation_id=0, client_id="fuzz")


def read_versions(response: bytes) -> Versions:
    """Return the API versions in a broker's response to `api_versions_request`."""
    body = decode_response(response, key_of(ApiVersionsRequest), 0).body
    assert isinstance(body, ApiVersionsResponse)
    return {row.api_key: (row.min_version, row.max_version) for row in body.api_keys}


def check_disconnect(frame: Frame, versions: Versions) -> None:
    """Raise `Fault` if the link was closed over a valid request without a rule in `DISCONNECT_RULES`."""
    if not frame.is_valid:
        return
    request = decode_request(frame.data)
    if not any(rule.applies(request, versions) for rule in DISCONNECT_RULES):
        name = by_key(request.head.api_key).name
        description = f"the link was closed over a valid {name} v{request.head.api_version}"
        raise Fault(FaultKind.REFUSED, description, f"closed over {name}", "an answer")
