"""Target: our reader of whole requests, header and body, as a broker receives them.

Any bytes are a request or raise a `ProtocolError`. The fast and the slow reader of the header must agree. The outcome
says how far the reader got: it is not plain "taken" if bytes are left over, which brokers accept, or if an array is
empty.
"""

from __future__ import annotations

from kmirror.errors import ProtocolError
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.decoder import refused_field
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.protocol import careful
from kmirror.protocol.careful import is_within
from kmirror.protocol.gen.request_header import RequestHeader
from kmirror.protocol.headers import RequestHead, decode_request
from kmirror.protocol.registry import all_apis, by_api_name, by_key
from kmirror.protocol.structs import Struct

LEFT_OVER = f"{TAKEN}, with bytes left over"
HOLLOW = f"{TAKEN}, without an element in each array"


class RequestTarget(Stateless):
    """Our `decode_request`."""

    name = "request"

    def judge(self, frame: Frame) -> str:
        """Return "taken" with its variants, or the field at which the frame was refused; raises `Fault`."""
        try:
            head, body = decode_request(frame.data)
            self._check_header(frame, head)
            end = body.decode_prefix(frame.data, head.api_version, head.body_position)[1]
        except ProtocolError as error:
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"a valid request: {error}", f"refused {error.field}", TAKEN) from None
            return refused_field(error, len(frame.data))
        except Fault:
            raise
        except Exception as error:
            raise fault_of_exception(error) from error
        if end < len(frame.data):
            return LEFT_OVER
        return TAKEN if _is_filled(body, head.api_version) else HOLLOW

    def _check_header(self, frame: Frame, head: RequestHead) -> None:
        version = by_key(head.api_key).request_header_version(head.api_version)
        found, position = careful.decode(RequestHeader, frame.data, version)
        same = RequestHead(
            found.request_api_key, found.request_api_version, found.correlation_id, found.client_id, position
        )
        if same != head:
            raise Fault(FaultKind.DIFFERS, f"the header is {head}, read carefully {same}", "header", "the same")


def _is_filled(part: Struct, version: int) -> bool:
    """Return whether each array has elements and no struct is null; tagged fields are ignored.

    Of the elements of an array only the last is checked.
    """
    for field in part.FIELDS:
        is_here = is_within(version, field.versions) and not is_within(version, field.tagged)
        if is_here and (field.is_array or field.struct is not None):
            value = getattr(part, field.attribute)
            if not value:
                return False
            inner = value[-1] if field.is_array else value
            if field.struct is not None and not _is_filled(inner, version):
                return False
    return True


def open_target(options: TargetOptions) -> tuple[RequestTarget, Stream]:
    """Return the target, and whole requests of the selected messages, or of all APIs."""
    names = [name.removesuffix("Request") for name in options.messages]
    apis = [by_api_name(name) for name in names] if names else all_apis()
    return RequestTarget(), Stream(options.seed, tuple(api.request for api in apis), has_headers=True)
