"""Our reader of whole requests as a target: header and body, as a broker gets them.

Any bytes are a request or a `ProtocolError`. What the quick reader of the header says, the slow one says too.
"""

from __future__ import annotations

from kmirror.errors import ProtocolError
from kmirror.fuzz.findings import Fault, Kind, raised
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.decoder import refused_at
from kmirror.fuzz.targets.rows import Wanted
from kmirror.protocol import careful
from kmirror.protocol.gen.request_header import RequestHeader
from kmirror.protocol.headers import RequestHead, decode_request
from kmirror.protocol.registry import all_apis, by_api_name, by_key


class RequestTarget(Stateless):
    """`decode_request` of ours."""

    name = "request"

    def judge(self, frame: Frame) -> str:
        """Return "taken" or the field at which the frame was refused; raises `Fault`."""
        try:
            head = decode_request(frame.data).head
            self._carefully(frame, head)
        except ProtocolError as error:
            if frame.is_valid:
                raise Fault(Kind.REFUSED, f"a valid request: {error}", f"refused {error.field}", TAKEN) from None
            return refused_at(error, len(frame.data))
        except Fault:
            raise
        except Exception as error:
            raise raised(error) from error
        return TAKEN

    def _carefully(self, frame: Frame, head: RequestHead) -> None:
        version = by_key(head.api_key).request_header_version(head.api_version)
        found, position = careful.decode(RequestHeader, frame.data, version)
        same = RequestHead(
            found.request_api_key, found.request_api_version, found.correlation_id, found.client_id, position
        )
        if same != head:
            raise Fault(Kind.DIFFERS, f"the header is {head}, read carefully {same}", "header", "the same")


def open_target(wanted: Wanted) -> tuple[RequestTarget, Stream]:
    """Return the target, and whole requests of the messages that are wanted, or of all APIs."""
    names = [name.removesuffix("Request") for name in wanted.messages]
    apis = [by_api_name(name) for name in names] if names else all_apis()
    return RequestTarget(), Stream(wanted.seed, tuple(api.request for api in apis), has_heads=True)
