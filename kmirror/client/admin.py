"""The admin client: sends a request to one broker after the other until one of them accepts or rejects it.

It sends the requests that change topics and configs, and those of KIP-1279: every broker forwards them to the
controller. After an error of `RETRIED_ERRORS` the request is sent again, as by Kafka's admin client.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.client.authentication import Authenticator
from kmirror.client.backoff import Backoff
from kmirror.client.remote_cluster import RemoteCluster, code_of
from kmirror.client.requester import Requester
from kmirror.errors import UsageError
from kmirror.kernel.arguments import shown
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.protocol.gen.create_partitions_response import CreatePartitionsResponse
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.delete_mirror_response import DeleteMirrorResponse
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest
from kmirror.protocol.gen.delete_topics_response import DeleteTopicsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.pause_mirror_topics_response import PauseMirrorTopicsResponse
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.remove_topics_from_mirror_response import RemoveTopicsFromMirrorResponse
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.resume_mirror_topics_response import ResumeMirrorTopicsResponse
from kmirror.protocol.gen.update_features_request import UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdateFeaturesResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

RETRIED_ERRORS = (
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.THROTTLING_QUOTA_EXCEEDED,
)
"""Errors with which nothing was done, so that the request is repeated. All others are returned, even retriable ones."""
FORWARDED_REQUESTS = (
    AddTopicsToMirrorRequest,
    CreateMirrorRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteMirrorRequest,
    DeleteTopicsRequest,
    IncrementalAlterConfigsRequest,
    PauseMirrorTopicsRequest,
    RemoveTopicsFromMirrorRequest,
    ResumeMirrorTopicsRequest,
    UpdateFeaturesRequest,
)
"""Requests that every broker accepts and forwards to the controller."""
OnAnswer = Callable[[Instant, Message | ErrorCode], None]
"""Gets the response, or UNSUPPORTED_VERSION or REQUEST_TIMED_OUT if there is none."""


def check_is_forwarded(body: object) -> None:
    """Raise UsageError unless `body` is one of `FORWARDED_REQUESTS`."""
    if not isinstance(body, FORWARDED_REQUESTS):
        known = ", ".join(kind.__name__ for kind in FORWARDED_REQUESTS)
        raise UsageError(f"not a request that changes the cluster: {shown(body)}; use one of {known}")


@dataclass(frozen=True, slots=True)
class AdminConfigs:
    """Kafka's names and defaults."""

    request_timeout_ms: int = 30_000
    default_api_timeout_ms: int = 60_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000


@dataclass(slots=True)
class _PendingRequest:
    body: Message
    until: Instant
    on_answer: OnAnswer
    attempts: int = 0


class Admin:
    """An admin client of one cluster; the keys of its timers begin with its name."""

    def __init__(
        self,
        name: str,
        requester: Requester,
        servers: tuple[Endpoint, ...],
        configs: AdminConfigs | None = None,
        *,
        authenticator: Authenticator | None = None,
    ) -> None:
        self.name = name
        self._configs = configs or AdminConfigs()
        self._outbox = requester.outbox
        self._backoff = Backoff(self._configs.retry_backoff_ms, self._configs.retry_backoff_max_ms)
        timeout_ms = self._configs.request_timeout_ms
        self.cluster = RemoteCluster(name, requester, servers, timeout_ms=timeout_ms, authenticator=authenticator)
        self._pending: dict[int, _PendingRequest] = {}
        self._count = 0

    def ask(self, now: Instant, body: Message, on_answer: OnAnswer) -> None:
        """Send `body` until it is answered or `default.api.timeout.ms` is over; call `on_answer` once.

        `on_answer` gets UNSUPPORTED_VERSION if a broker does not serve the API: then no other broker is tried. Raises
        UsageError for a request that is not one of `FORWARDED_REQUESTS`, or that does not encode.
        """
        check_is_forwarded(body)
        body.encode(body.MAX_VERSION)  # An error of the encoding is raised now, instead of a timeout at the end.
        self._count += 1
        until = now + self._configs.default_api_timeout_ms * MILLISECOND
        self._pending[self._count] = _PendingRequest(body, until, on_answer)
        self._send(now, self._count)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Repeat the request that `key` names."""
        match key:
            case (_, int(number)):
                self._send(now, number)
            case _:
                raise AssertionError(f"unknown timer: {key}")

    def _send(self, now: Instant, number: int) -> None:
        pending, endpoint = self._pending[number], self.cluster.any_broker()

        def on_reply(later: Instant, reply: Message | None) -> None:
            if reply is not None and error_of(reply) not in RETRIED_ERRORS:
                self._end(later, number, reply)
                return
            if self.cluster.knows_versions(endpoint) and not self.cluster.supports(endpoint, type(pending.body)):
                self._end(later, number, ErrorCode.UNSUPPORTED_VERSION)
                return
            retry_at = later + self._backoff.pause_ms(pending.attempts) * MILLISECOND
            pending.attempts += 1
            if retry_at >= pending.until:
                self._end(later, number, ErrorCode.REQUEST_TIMED_OUT if reply is None else reply)
            else:
                self._outbox.set_timer((self.name, number), retry_at)

        self.cluster.send(now, endpoint, "orders", pending.body, on_reply)

    def _end(self, now: Instant, number: int, reply: Message | ErrorCode) -> None:
        self._pending.pop(number).on_answer(now, reply)


def error_of(reply: Message) -> ErrorCode:
    """Return the first error of a response, the top-level one before those of its rows; NONE if there is none."""
    match reply:
        case CreateMirrorResponse() | DeleteMirrorResponse() | UpdateFeaturesResponse():
            codes = [reply.error_code]
        case (
            AddTopicsToMirrorResponse()
            | RemoveTopicsFromMirrorResponse()
            | PauseMirrorTopicsResponse()
            | ResumeMirrorTopicsResponse()
        ):
            codes = [reply.error_code, *(row.error_code for row in reply.topics)]
        case CreateTopicsResponse():
            codes = [row.error_code for row in reply.topics]
        case CreatePartitionsResponse():
            codes = [row.error_code for row in reply.results]
        case DeleteTopicsResponse() | IncrementalAlterConfigsResponse():
            codes = [row.error_code for row in reply.responses]
        case _:
            raise AssertionError(f"unexpected response: {reply!r}")
    return next((code_of(code) for code in codes if code), ErrorCode.NONE)
