"""A node with hooks: it receives requests first, handles one of each link at a time, and passes on the responses.

    waiting -> hooks, in order -> the inner node -> its response, changed by hooks -> the next request

Requests of APIs without hooks are passed on as they arrive.

It holds no state of the cluster: after a restart of the inner node a new wrapper is made. Releasing a hook wakes no
node, so any thread may do it; while requests are held, a timer checks every few milliseconds.
"""

from __future__ import annotations

from collections import deque

from kmirror.cluster.error_response import error_response
from kmirror.cluster.server import API_VERSIONS, Versions
from kmirror.errors import ProtocolError, UsageError
from kmirror.hooks.actions import Close, Delay, Drop, Hold, RespondWithError, RespondWithMessage, Slow, Throttle, Watch
from kmirror.hooks.hook import HoldHook, Hook
from kmirror.hooks.node_view import view_of
from kmirror.hooks.progress import HookedLink, RequestProgress, RowDecision
from kmirror.hooks.received import ReceivedRequest
from kmirror.hooks.requests import RequestRows
from kmirror.hooks.responses import can_have_row_errors, set_throttle_time, with_row_errors
from kmirror.hooks.table import HookTable
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant, to_ms
from kmirror.kernel.events import (
    CancelTimer,
    Chunk,
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    Node,
    Note,
    Reply,
    RequestReceived,
    ResumeReading,
    SetTimer,
    StopReading,
    TimerFired,
)
from kmirror.kernel.wrapping import Wrapper
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import (
    RequestHead,
    decode_response,
    encode_request,
    encode_response_chunks,
    peek_request,
)
from kmirror.protocol.message import Message
from kmirror.protocol.produce_acks import produce_acks
from kmirror.protocol.registry import by_key, key_of
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import TRANSACTION_VERSION
from kmirror.spec.version_limits import TRANSACTIONS_V1_LAST
from kmirror.spec.wire_values import Acks

TIMER = "hooks"
HELD_TIMER = (TIMER, "held")
HELD_CHECK_INTERVAL: Duration = 5 * MILLISECOND
SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)
"""Errors for the top-level field of a Fetch response; all others belong to partitions."""
PRODUCE = key_of(ProduceRequest)


_BEFORE_TRANSACTIONS_V2 = {
    key_of(request): TRANSACTIONS_V1_LAST[request.NAME] for request in (ProduceRequest, EndTxnRequest)
}


class HookedNode(Wrapper):
    """A broker or controller whose requests pass through the hooks of a table."""

    def __init__(self, table: HookTable, inner: Node) -> None:
        super().__init__(inner)
        self._table = table
        self._node = view_of(inner)
        self._links: dict[InboundLink, HookedLink] = {}
        self._timers: dict[int, InboundLink] = {}
        self._next_timer = 0
        self._is_held_timer_set = False
        """Whether the timer for held requests is set."""
        self._effects: list[Effect] = []
        self._ready: deque[HookedLink] = deque()
        self._closed: deque[InboundLink] = deque()
        """Links closed by a hook that the inner node has not been notified of."""

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link, frame) if link in self._links:
                self._receive(self._links[link], frame)
            case TimerFired((name, timer_id)) if name == TIMER:
                self._wake(now, timer_id)
            case LinkOpened():
                self._links[event.link] = HookedLink(event)
                self._pass(now, event)
            case LinkClosed(InboundLink() as closed_link):
                self._forget(closed_link)
                self._pass(now, event)
            case _:
                self._pass(now, event)
        while self._closed or self._ready:
            if self._closed:
                self._pass(now, LinkClosed(self._closed.popleft()))
            else:
                self._start_next(now, self._ready.popleft())
        effects, self._effects = self._effects, []
        return effects

    def offered_versions(self, versions: Versions) -> dict[int, tuple[int, int]]:
        """Return the versions offered to clients, of those that the node serves."""
        found = {key: self.offered_range(key, range_) for key, range_ in versions.items()}
        return {key: range_ for key, range_ in found.items() if range_ is not None}

    def offered_range(self, key: int, range_: tuple[int, int]) -> tuple[int, int] | None:
        """Return the versions of an API offered to clients, of the range that the node serves; None if none is."""
        first, last = range_
        last = min(last, self._table.caps.get(key, last))
        return (first, last) if first <= last else None

    def forget_held(self) -> None:
        """Release the hooks' references to held requests: the node was killed."""
        for link in list(self._links):
            self._forget(link)

    # -- the inner node -----------------------------------------------------------------------

    def _pass(self, now: Instant, event: Event) -> None:
        """Pass an event to the inner node, and process its effects."""
        for effect in self.inner.handle(now, event):
            match effect:
                case Reply(name):
                    self._on_reply(now, self._links.get(name), effect)
                case CloseLink(InboundLink() as closed_link):
                    self._forget(closed_link)
                    self._effects.append(effect)
                case StopReading(name) | ResumeReading(name):
                    self._update_reading(self._links.get(name), inner=isinstance(effect, ResumeReading))
                case _:
                    self._effects.append(effect)

    def _on_reply(self, now: Instant, link: HookedLink | None, reply: Reply) -> None:
        if link is None:
            return  # A hook has closed the link.
        progress = link.progress
        if progress is None:
            self._effects.append(reply)
            link.outstanding -= 1
            if link.waiting.requests and not link.outstanding:
                self._ready.append(link)
        elif progress.closes_link:
            self._close(link)
        elif not progress.is_dropped:
            self._send_response(now, link, progress, self._rewrite_reply(link, progress, reply))

    def _rewrite_reply(self, link: HookedLink, progress: RequestProgress, reply: Reply) -> Reply:
        """Return a response of the inner node with the changes of hooks."""
        if progress.rewrite is None and not progress.throttle_ms:
            return reply
        head = progress.request_rows.head
        try:
            body = decode_response(b"".join(reply.chunks), head.api_key, head.api_version).body
        except ProtocolError as error:
            self._effects.append(
                Note(f"{link.client.link.name}: passing on a response that cannot be decoded: {error}")
            )
            return reply
        rewritten = self._make_reply(link, progress, body if progress.rewrite is None else progress.rewrite(body))
        return Reply(rewritten.link, rewritten.chunks, reply.timing)

    # -- links --------------------------------------------------------------------------------

    def _receive(self, link: HookedLink, frame: Chunk) -> None:
        link.waiting.put(frame, len(frame))
        if link.progress is None:
            self._ready.append(link)
        if (link.progress is not None or link.outstanding) and link.waiting.is_full:
            self._update_reading(link, full=True)

    def _update_reading(self, link: HookedLink | None, *, inner: bool | None = None, full: bool | None = None) -> None:
        """Start or stop reading the link: it is read only if neither this node nor the inner one has stopped it."""
        if link is None:
            return
        before = link.is_read
        link.is_read_by_inner = link.is_read_by_inner if inner is None else inner
        link.is_full = link.is_full if full is None else full
        if before != link.is_read:
            name = link.client.link
            self._effects.append(ResumeReading(name) if link.is_read else StopReading(name))

    def _start_next(self, now: Instant, link: HookedLink) -> None:
        """Start the next request of a link that has none in hooks.

        Requests without hooks are passed on at once, so that several may be outstanding, as between client and broker.
        One with hooks waits until all before it have responses.
        """
        if link.progress is not None or not link.waiting.requests or link.client.link not in self._links:
            return
        frame = link.waiting.first
        try:
            head = peek_request(frame)
        except ProtocolError:
            head = None  # The inner node handles the error.
        if link.outstanding and self._needs_hooks(head):
            return
        link.waiting.take()
        if not link.waiting.requests:
            self._update_reading(link, full=False)
        if head is not None and self._is_above_cap(head):
            self._reject_version(link, head)
            return
        link.progress = self._begin(now, link, frame, head) if head is not None and self._needs_hooks(head) else None
        if link.progress is not None:
            self._apply_hooks(now, link, link.progress)
            return
        link.outstanding += not _has_no_response(frame, head)
        self._pass(now, RequestReceived(link.client.link, frame))
        if link.waiting.requests:
            self._ready.append(link)

    def _needs_hooks(self, head: RequestHead | None) -> bool:
        """Return whether hooks or caps may apply to a request."""
        return head is not None and (
            (bool(self._table.caps) and head.api_key == API_VERSIONS)
            or self._is_above_cap(head)
            or self._table.has_hook_for(head.api_key)
        )

    def _begin(self, now: Instant, link: HookedLink, frame: Chunk, head: RequestHead) -> RequestProgress | None:
        """Return the work on a request; None if it cannot be decoded, which the inner node will report."""
        try:
            request_rows = RequestRows(head, frame, self._node)
        except ProtocolError:
            return None
        request = ReceivedRequest(
            self._node.node_id,
            to_ms(now),
            link.client,
            head.client_id,
            head.correlation_id,
            head.api_version,
            request_rows.body,
        )
        return RequestProgress(request_rows, frame, request, self._node.is_of_node(head))

    def _pass_request(self, now: Instant, link: HookedLink, progress: RequestProgress, frame: Chunk) -> None:
        """Pass a request that hooks have processed to the inner node."""
        self._pass(now, RequestReceived(link.client.link, frame))
        if progress is link.progress and progress.has_no_response and not progress.is_dropped:
            if progress.closes_link and link.client.link in self._links:
                self._close(link)
            self._finish(link)

    def _finish(self, link: HookedLink) -> None:
        link.progress = None
        if link.waiting.requests:
            self._ready.append(link)

    def _respond_directly(self, now: Instant, link: HookedLink, progress: RequestProgress, response: Message) -> None:
        """Respond to a request without the inner node."""
        self._send_response(now, link, progress, self._make_reply(link, progress, response))

    def _make_reply(self, link: HookedLink, progress: RequestProgress, response: Message) -> Reply:
        head = progress.request_rows.head
        if progress.throttle_ms:
            set_throttle_time(response, head.api_version, progress.throttle_ms)
        chunks = encode_response_chunks(response, head.api_version, correlation_id=head.correlation_id)
        return Reply(link.client.link, tuple(chunks))

    def _send_response(self, now: Instant, link: HookedLink, progress: RequestProgress, reply: Reply) -> None:
        """Send the response as soon as no hook delays or holds it."""
        progress.response = reply
        delay, progress.response_delay = progress.response_delay, 0
        if progress.bytes_per_s is not None:
            delay += sum(map(len, reply.chunks)) * SECOND // progress.bytes_per_s
            progress.bytes_per_s = None
        if delay:
            self._delay(now, link, progress, delay)
            return
        while progress.response_held_by:
            hook = progress.response_held_by.pop()
            if not hook.is_removed:
                self._hold(now, progress, hook)
                return
        self._effects.append(reply)
        self._finish(link)

    def _close(self, link: HookedLink) -> None:
        """Close a link; for the inner node it looks as if the client had closed it."""
        name = link.client.link
        self._forget(name)
        self._effects.append(CloseLink(name))
        self._closed.append(name)

    def _forget(self, name: InboundLink) -> None:
        link = self._links.pop(name, None)
        if link is None or link.progress is None:
            return
        progress = link.progress
        if progress.held_by is not None:
            progress.held_by.held.pop(progress.held_number, None)
        if progress.timer and self._timers.pop(progress.timer, None) is not None:
            self._effects.append(CancelTimer((TIMER, progress.timer)))

    # -- hooks --------------------------------------------------------------------------------

    def _is_above_cap(self, head: RequestHead) -> bool:
        """Return whether a request has a version that is not offered to clients."""
        cap = self._table.caps.get(head.api_key)
        return cap is not None and head.api_version > cap and not self._node.is_of_node(head)

    def _reject_version(self, link: HookedLink, head: RequestHead) -> None:
        cap = self._table.caps[head.api_key]
        if head.api_key == API_VERSIONS:  # Like any broker for a newer version (KIP-511).
            rows = [ApiVersion(api_key=API_VERSIONS, min_version=0, max_version=cap)]
            response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=rows)
            chunks = encode_response_chunks(response, 0, correlation_id=head.correlation_id)
            self._effects.append(Reply(link.client.link, tuple(chunks)))
            self._finish(link)
        else:
            text = f"api key {head.api_key} version {head.api_version} is above the cap {cap}"
            self._effects.append(Note(f"closing {link.client.link.name}: {text}"))
            self._close(link)

    def _apply_hooks(self, now: Instant, link: HookedLink, progress: RequestProgress) -> None:
        """Apply the remaining hooks, until one delays the request or decides about all of it."""
        for hook in self._table.active_hooks():
            rows = progress.undecided_rows()
            if progress.decisions and not rows:
                break
            if (
                hook in progress.taken_by
                or (not rows and self._is_irrelevant(progress, hook))
                or not hook.take(progress.request, rows, is_node=progress.is_node)
            ):
                continue
            progress.taken_by.append(hook)
            match hook.action:
                case Watch(call):
                    call(progress.request)
                case Delay(span, is_applied=True):
                    progress.response_delay += span
                case Delay(span):
                    self._delay(now, link, progress, span)
                    return
                case Slow(bytes_per_s):
                    progress.bytes_per_s = bytes_per_s
                    self._delay(now, link, progress, len(progress.frame) * SECOND // bytes_per_s)
                    return
                case Hold(is_applied):
                    assert isinstance(hook, HoldHook)
                    if is_applied:
                        progress.response_held_by.append(hook)
                        continue
                    self._hold(now, progress, hook)
                    return
                case Throttle(ms):
                    progress.throttle_ms = max(progress.throttle_ms, ms)
                case RespondWithMessage(make):
                    self._respond(now, link, progress, make(progress.request))
                    return
                case Drop(is_applied):
                    progress.is_dropped = True
                    if is_applied:
                        self._pass_request(now, link, progress, progress.frame)
                    return
                case Close(is_applied):
                    self._end_link(now, link, progress, is_applied=is_applied)
                    return
                case RespondWithError():
                    if not self._is_for_rows(progress, hook, hook.action):
                        self._send_error(now, link, progress, hook.action)
                        return
                    progress.decisions.append(RowDecision(hook, hook.action))
        self._pass_undecided_rows(now, link, progress)

    def _is_irrelevant(self, progress: RequestProgress, hook: Hook) -> bool:
        """Return whether a fetch without rows has nothing that the hook's error could apply to."""
        action = hook.action
        is_for_rows = isinstance(action, RespondWithError) and action.error not in SESSION_ERRORS
        return is_for_rows and isinstance(progress.request.body, FetchRequest)

    def _delay(self, now: Instant, link: HookedLink, progress: RequestProgress, span: Duration) -> None:
        self._next_timer += 1
        progress.timer = self._next_timer
        self._timers[progress.timer] = link.client.link
        self._effects.append(SetTimer((TIMER, progress.timer), now + span))

    def _hold(self, now: Instant, progress: RequestProgress, hook: HoldHook) -> None:
        self._table.last_held += 1
        progress.held_by, progress.held_number = hook, self._table.last_held
        hook.held[progress.held_number] = progress.request
        self._set_held_timer(now)

    def _set_held_timer(self, now: Instant) -> None:
        if not self._is_held_timer_set:
            self._is_held_timer_set = True
            self._effects.append(SetTimer(HELD_TIMER, now + HELD_CHECK_INTERVAL))

    def _wake(self, now: Instant, timer_id: object) -> None:
        """Continue requests whose delay is over, or whose hook was released."""
        if timer_id != HELD_TIMER[1]:
            assert isinstance(timer_id, int)
            link = self._links[self._timers.pop(timer_id)]
            assert link.progress is not None, "a link that closes takes its timer along"
            link.progress.timer = 0
            self._resume(now, link, link.progress)
            return
        self._is_held_timer_set = False
        holding = [
            link for link in self._links.values() if link.progress is not None and link.progress.held_by is not None
        ]
        for link in holding:
            progress = link.progress
            if progress is None or progress.held_by is None or not progress.held_by.is_removed:
                continue
            progress.held_by.held.pop(progress.held_number, None)
            progress.held_by = None
            self._resume(now, link, progress)
        if any(link.progress is not None and link.progress.held_by is not None for link in self._links.values()):
            self._set_held_timer(now)

    def _resume(self, now: Instant, link: HookedLink, progress: RequestProgress) -> None:
        """Continue with a waiting request, or with its response."""
        if progress.response is None:
            self._apply_hooks(now, link, progress)
        else:
            self._send_response(now, link, progress, progress.response)

    def _respond(self, now: Instant, link: HookedLink, progress: RequestProgress, response: Message) -> None:
        expected = by_key(progress.request_rows.head.api_key).response
        if not isinstance(response, expected):
            raise UsageError(
                f"a hook must respond to {progress.request.body.NAME} with a {expected.__name__}, not {response!r}"
            )
        if progress.has_no_response:
            self._finish(link)
        else:
            self._respond_directly(now, link, progress, response)

    def _end_link(self, now: Instant, link: HookedLink, progress: RequestProgress, *, is_applied: bool) -> None:
        if is_applied:
            progress.closes_link = True
            self._pass_request(now, link, progress, progress.frame)
        else:
            self._close(link)

    def _is_for_rows(self, progress: RequestProgress, hook: Hook, action: RespondWithError) -> bool:
        """Return whether an error belongs to rows of the response rather than to all of it."""
        head, body = progress.request_rows.head, progress.request.body
        return can_have_row_errors(by_key(head.api_key).response, head.api_version) and (
            hook.criteria.topic is not None
            or bool(progress.decisions)
            or isinstance(body, MetadataRequest)  # Its response also lists the brokers.
            or (isinstance(body, FetchRequest) and action.error not in SESSION_ERRORS)
        )

    def _send_error(self, now: Instant, link: HookedLink, progress: RequestProgress, action: RespondWithError) -> None:
        """Respond to the whole request with an error."""
        rejected = error_response(progress.request.body, progress.request.version, action.error, action.message)
        if action.is_applied:
            progress.closes_link = progress.has_no_response
            progress.rewrite = lambda _: rejected
            self._pass_request(now, link, progress, progress.frame)
        elif progress.has_no_response:
            self._close(link)  # As in Kafka: a client without responses learns of an error this way.
        else:
            self._respond_directly(now, link, progress, rejected)

    def _pass_undecided_rows(self, now: Instant, link: HookedLink, progress: RequestProgress) -> None:
        """Pass the rows of the request without a hook's error to the inner node, and join both responses."""
        request_rows, body = progress.request_rows, progress.request.body
        if isinstance(body, ApiVersionsRequest) and self._table.caps and not progress.is_node:
            progress.rewrite = self._apply_caps
        if not progress.decisions:
            self._pass_request(now, link, progress, progress.frame)
            return
        progress.closes_link = progress.has_no_response
        has_rows = isinstance(body, FetchRequest | MetadataRequest) or any(
            progress.is_forwarded(*row) for row in request_rows.rows
        )
        if not has_rows and progress.closes_link:
            self._close(link)
        elif not has_rows:
            self._respond_directly(now, link, progress, with_row_errors(request_rows, None, progress.error_at))
        else:
            progress.rewrite = lambda response: with_row_errors(request_rows, response, progress.error_at)
            self._pass_request(now, link, progress, self._undecided_request(progress))

    def _undecided_request(self, progress: RequestProgress) -> Chunk:
        """Return the frame of the request without the rows that have a hook's error."""
        request_rows, head = progress.request_rows, progress.request_rows.head
        if isinstance(progress.request.body, FetchRequest):
            # The session must know all partitions of the request; the records read for rows with an error are not sent.
            undecided = request_rows.without_rows(lambda *_: True)
            assert isinstance(undecided, FetchRequest)
            undecided.max_wait_ms = 0
        elif request_rows.requests_all:
            return progress.frame
        else:
            undecided = request_rows.without_rows(progress.is_forwarded)
        return encode_request(undecided, head.api_version, correlation_id=head.correlation_id, client_id=head.client_id)

    def _apply_caps(self, response: Message) -> Message:
        """Return an ApiVersions response without the versions above the caps."""
        assert isinstance(response, ApiVersionsResponse)
        known = {row.api_key: (row.min_version, row.max_version) for row in response.api_keys}
        response.api_keys = [
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in self.offered_versions(known).items()
        ]
        if any(self._table.caps.get(key, last + 1) <= last for key, last in _BEFORE_TRANSACTIONS_V2.items()):
            # A client that sees the feature level would rely on those versions.
            response.finalized_features = [
                row for row in response.finalized_features if row.name != TRANSACTION_VERSION
            ]
            response.supported_features = [
                row for row in response.supported_features if row.name != TRANSACTION_VERSION
            ]
        return response


def _has_no_response(frame: Chunk, head: RequestHead | None) -> bool:
    """Return whether a node sends no response to a valid request."""
    if head is None or head.api_key != PRODUCE:
        return False
    try:
        return produce_acks(frame, head) == Acks.NONE
    except ProtocolError:
        return False  # It is refused.
