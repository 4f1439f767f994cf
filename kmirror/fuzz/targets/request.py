"""Our reader of whole requests as a target: header and body, as a broker gets them.

Any bytes are a request or a `ProtocolError`. What the quick reader of the header says, the slow one says too. Outcomes
tell how far the reader got: a request of which bytes are left over, as brokers take it, or whose arrays are empty, is
not "taken" as one is of which every part was read.
"""

from __future__ import annotations

from kmirror.errors import ProtocolError
from kmirror.fuzz.findings import Fault, Kind, raised
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.decoder import refused_at
from kmirror.fuzz.targets.rows import Wanted
from kmirror.protocol import careful
from kmirror.protocol.careful import within
from kmirror.protocol.gen.request_header import RequestHeader
from kmirror.protocol.headers import RequestHead, decode_request
from kmirror.protocol.registry import all_apis, by_api_name, by_key
from kmirror.protocol.structs import Struct

LEFT_OVER = f"{TAKEN}, with bytes left over"
HOLLOW = f"{TAKEN}, without an element in each array"


class RequestTarget(Stateless):
    """`decode_request` of ours."""

    name = "request"

    def judge(self, frame: Frame) -> str:
        """Return "taken", how it was taken, or the field at which the frame was refused; raises `Fault`."""
        try:
            head, body = decode_request(frame.data)
            self._carefully(frame, head)
            end = body.decode_prefix(frame.data, head.api_version, head.body_position)[1]
        except ProtocolError as error:
            if frame.is_valid:
                raise Fault(Kind.REFUSED, f"a valid request: {error}", f"refused {error.field}", TAKEN) from None
            return refused_at(error, len(frame.data))
        except Fault:
            raise
        except Exception as error:
            raise raised(error) from error
        if end < len(frame.data):
            return LEFT_OVER
        return TAKEN if _is_filled(body, head.api_version) else HOLLOW

    def _carefully(self, frame: Frame, head: RequestHead) -> None:
        version = by_key(head.api_key).request_header_version(head.api_version)
        found, position = careful.decode(RequestHeader, frame.data, version)
        same = RequestHead(
            found.request_api_key, found.request_api_version, found.correlation_id, found.client_id, position
        )
        if same != head:
            raise Fault(Kind.DIFFERS, f"the header is {head}, read carefully {same}", "header", "the same")


def _is_filled(part: Struct, version: int) -> bool:
    """Return whether each array has an element and no struct is null, tags aside; of elements the last is looked at."""
    for field in part.FIELDS:
        is_here = within(version, field.versions) and not within(version, field.tagged)
        if is_here and (field.is_array or field.struct is not None):
            value = getattr(part, field.attribute)
            if not value:
                return False
            inner = value[-1] if field.is_array else value
            if field.struct is not None and not _is_filled(inner, version):
                return False
    return True


def open_target(wanted: Wanted) -> tuple[RequestTarget, Stream]:
    """Return the target, and whole requests of the messages that are wanted, or of all APIs."""
    names = [name.removesuffix("Request") for name in wanted.messages]
    apis = [by_api_name(name) for name in names] if names else all_apis()
    return RequestTarget(), Stream(wanted.seed, tuple(api.request for api in apis), has_heads=True)
