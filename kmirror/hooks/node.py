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
from kmirror.hooks.actions import Answer, Close, Delay, Hold, Respond, Silence, Slow, Throttle, Watch
from kmirror.hooks.answers import can_split, tell_throttled, with_errors
from kmirror.hooks.hook import Held, Hook
from kmirror.hooks.inside import inside_of
from kmirror.hooks.received import ReceivedRequest
from kmirror.hooks.requests import Asked
from kmirror.hooks.table import HookTable
from kmirror.hooks.work import HookedLink, Rule, Work
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
LOOK_EVERY: Duration = 5 * MILLISECOND
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
        self._node = inside_of(inner)
        self._links: dict[InboundLink, HookedLink] = {}
        self._timers: dict[int, InboundLink] = {}
        self._next_timer = 0
        self._looks = False
        """Whether the timer for held requests is set."""
        self._effects: list[Effect] = []
        self._ready: deque[HookedLink] = deque()
        self._closed: deque[InboundLink] = deque()
        """Links closed by a hook that the inner node has not been notified of."""

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link, frame) if link in self._links:
                self._receive(self._links[link], frame)
            case TimerFired((name, what)) if name == TIMER:
                self._wake(now, what)
            case LinkOpened():
                self._links[event.link] = HookedLink(event)
                self._pass(now, event)
            case LinkClosed(InboundLink() as gone):
                self._forget(gone)
                self._pass(now, event)
            case _:
                self._pass(now, event)
        while self._closed or self._ready:
            if self._closed:
                self._pass(now, LinkClosed(self._closed.popleft()))
            else:
                self._next(now, self._ready.popleft())
        effects, self._effects = self._effects, []
        return effects

    def capped(self, versions: Versions) -> dict[int, tuple[int, int]]:
        """Return the versions offered to clients, of those that the node serves."""
        found = {key: self.cap(key, range_) for key, range_ in versions.items()}
        return {key: range_ for key, range_ in found.items() if range_ is not None}

    def cap(self, key: int, range_: tuple[int, int]) -> tuple[int, int] | None:
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
                case CloseLink(InboundLink() as gone):
                    self._forget(gone)
                    self._effects.append(effect)
                case StopReading(name) | ResumeReading(name):
                    self._read(self._links.get(name), inner=isinstance(effect, ResumeReading))
                case _:
                    self._effects.append(effect)

    def _on_reply(self, now: Instant, link: HookedLink | None, reply: Reply) -> None:
        if link is None:
            return  # A hook has closed the link.
        work = link.work
        if work is None:
            self._effects.append(reply)
            link.passing -= 1
            if link.waiting.requests and not link.passing:
                self._ready.append(link)
        elif work.closes:
            self._close(link)
        elif not work.is_silent:
            self._send_answer(now, link, work, self._rewritten(link, work, reply))

    def _rewritten(self, link: HookedLink, work: Work, reply: Reply) -> Reply:
        """Return a response of the inner node with the changes of hooks."""
        if work.rewrite is None and not work.throttle_ms:
            return reply
        head = work.asked.head
        try:
            body = decode_response(b"".join(reply.chunks), head.api_key, head.api_version).body
        except ProtocolError as error:
            self._effects.append(Note(f"{link.client.link.name}: an answer goes on as it is: {error}"))
            return reply
        rewritten = self._answered(link, work, body if work.rewrite is None else work.rewrite(body))
        return Reply(rewritten.link, rewritten.chunks, reply.timed)

    # -- links --------------------------------------------------------------------------------

    def _receive(self, link: HookedLink, frame: Chunk) -> None:
        link.waiting.put(frame, len(frame))
        if link.work is None:
            self._ready.append(link)
        if (link.work is not None or link.passing) and link.waiting.is_full:
            self._read(link, full=True)

    def _read(self, link: HookedLink | None, *, inner: bool | None = None, full: bool | None = None) -> None:
        """Start or stop reading the link: it is read only if neither this node nor the inner one has stopped it."""
        if link is None:
            return
        before = link.is_read
        link.inner_reads = link.inner_reads if inner is None else inner
        link.is_full = link.is_full if full is None else full
        if before != link.is_read:
            name = link.client.link
            self._effects.append(ResumeReading(name) if link.is_read else StopReading(name))

    def _next(self, now: Instant, link: HookedLink) -> None:
        """Start the next request of a link that has none in hooks.

        Requests without hooks are passed on at once, so that several may be outstanding, as between client and broker.
        One with hooks waits until all before it have responses.
        """
        if link.work is not None or not link.waiting.requests or link.client.link not in self._links:
            return
        frame = link.waiting.first
        try:
            head = peek_request(frame)
        except ProtocolError:
            head = None  # The inner node handles the error.
        if link.passing and self._concerns(head):
            return
        link.waiting.take()
        if not link.waiting.requests:
            self._read(link, full=False)
        if head is not None and self._is_above_cap(head):
            self._refuse_version(link, head)
            return
        link.work = self._begun(now, link, frame, head) if head is not None and self._concerns(head) else None
        if link.work is not None:
            self._go_on(now, link, link.work)
            return
        link.passing += not _is_unanswered(frame, head)
        self._pass(now, RequestReceived(link.client.link, frame))
        if link.waiting.requests:
            self._ready.append(link)

    def _concerns(self, head: RequestHead | None) -> bool:
        """Return whether hooks or caps may apply to a request."""
        return head is not None and (
            (bool(self._table.caps) and head.api_key == API_VERSIONS)
            or self._is_above_cap(head)
            or self._table.concerns(head.api_key)
        )

    def _begun(self, now: Instant, link: HookedLink, frame: Chunk, head: RequestHead) -> Work | None:
        """Return the work on a request; None if it cannot be decoded, which the inner node will report."""
        try:
            asked = Asked(head, frame, self._node)
        except ProtocolError:
            return None
        request = ReceivedRequest(
            self._node.node_id,
            to_ms(now),
            link.client,
            head.client_id,
            head.correlation_id,
            head.api_version,
            asked.body,
        )
        return Work(asked, frame, request, self._node.is_of_node(head))

    def _hand_over(self, now: Instant, link: HookedLink, work: Work, frame: Chunk) -> None:
        """Pass a request that hooks have processed to the inner node."""
        self._pass(now, RequestReceived(link.client.link, frame))
        if work is link.work and work.is_unanswered and not work.is_silent:
            if work.closes and link.client.link in self._links:
                self._close(link)
            self._finish(link)

    def _finish(self, link: HookedLink) -> None:
        link.work = None
        if link.waiting.requests:
            self._ready.append(link)

    def _answer(self, now: Instant, link: HookedLink, work: Work, answer: Message) -> None:
        """Respond to a request without the inner node."""
        self._send_answer(now, link, work, self._answered(link, work, answer))

    def _answered(self, link: HookedLink, work: Work, answer: Message) -> Reply:
        head = work.asked.head
        if work.throttle_ms:
            tell_throttled(answer, head.api_version, work.throttle_ms)
        chunks = encode_response_chunks(answer, head.api_version, correlation_id=head.correlation_id)
        return Reply(link.client.link, tuple(chunks))

    def _send_answer(self, now: Instant, link: HookedLink, work: Work, reply: Reply) -> None:
        """Send the response as soon as no hook delays or holds it."""
        work.answer = reply
        delay, work.answer_delay = work.answer_delay, 0
        if work.bytes_per_s is not None:
            delay += sum(map(len, reply.chunks)) * SECOND // work.bytes_per_s
            work.bytes_per_s = None
        if delay:
            self._delay(now, link, work, delay)
            return
        while work.answer_held_by:
            hook = work.answer_held_by.pop()
            if not hook.is_removed:
                self._hold(now, work, hook)
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
        if link is None or link.work is None:
            return
        work = link.work
        if work.held_by is not None:
            work.held_by.held.pop(work.held_as, None)
        if work.timer and self._timers.pop(work.timer, None) is not None:
            self._effects.append(CancelTimer((TIMER, work.timer)))

    # -- hooks --------------------------------------------------------------------------------

    def _is_above_cap(self, head: RequestHead) -> bool:
        """Return whether a request has a version that is not offered to clients."""
        cap = self._table.caps.get(head.api_key)
        return cap is not None and head.api_version > cap and not self._node.is_of_node(head)

    def _refuse_version(self, link: HookedLink, head: RequestHead) -> None:
        cap = self._table.caps[head.api_key]
        if head.api_key == API_VERSIONS:  # Like any broker for a newer version (KIP-511).
            rows = [ApiVersion(api_key=API_VERSIONS, min_version=0, max_version=cap)]
            answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=rows)
            chunks = encode_response_chunks(answer, 0, correlation_id=head.correlation_id)
            self._effects.append(Reply(link.client.link, tuple(chunks)))
            self._finish(link)
        else:
            text = f"api key {head.api_key} version {head.api_version} is above the cap {cap}"
            self._effects.append(Note(f"closing {link.client.link.name}: {text}"))
            self._close(link)

    def _go_on(self, now: Instant, link: HookedLink, work: Work) -> None:
        """Apply the remaining hooks, until one delays the request or decides about all of it."""
        for hook in self._table.live():
            rows = work.open_rows()
            if work.rules and not rows:
                break
            if (
                hook in work.passed
                or (not rows and self._is_moot(work, hook))
                or not hook.takes(work.request, rows, is_node=work.is_node)
            ):
                continue
            work.passed.append(hook)
            match hook.action:
                case Watch(call):
                    call(work.request)
                case Delay(span, is_applied=True):
                    work.answer_delay += span
                case Delay(span):
                    self._delay(now, link, work, span)
                    return
                case Slow(bytes_per_s):
                    work.bytes_per_s = bytes_per_s
                    self._delay(now, link, work, len(work.frame) * SECOND // bytes_per_s)
                    return
                case Hold(is_applied):
                    assert isinstance(hook, Held)
                    if is_applied:
                        work.answer_held_by.append(hook)
                        continue
                    self._hold(now, work, hook)
                    return
                case Throttle(ms):
                    work.throttle_ms = max(work.throttle_ms, ms)
                case Respond(make):
                    self._respond(now, link, work, make(work.request))
                    return
                case Silence(is_applied):
                    work.is_silent = True
                    if is_applied:
                        self._hand_over(now, link, work, work.frame)
                    return
                case Close(is_applied):
                    self._end_link(now, link, work, is_applied=is_applied)
                    return
                case Answer():
                    if not self._is_for_rows(work, hook, hook.action):
                        self._refuse(now, link, work, hook.action)
                        return
                    work.rules.append(Rule(hook, hook.action))
        self._hand_over_rest(now, link, work)

    def _is_moot(self, work: Work, hook: Hook) -> bool:
        """Return whether a fetch without rows has nothing that the hook's error could apply to."""
        action = hook.action
        is_for_rows = isinstance(action, Answer) and action.error not in SESSION_ERRORS
        return is_for_rows and isinstance(work.request.body, FetchRequest)

    def _delay(self, now: Instant, link: HookedLink, work: Work, span: Duration) -> None:
        self._next_timer += 1
        work.timer = self._next_timer
        self._timers[work.timer] = link.client.link
        self._effects.append(SetTimer((TIMER, work.timer), now + span))

    def _hold(self, now: Instant, work: Work, hook: Held) -> None:
        self._table.last_held += 1
        work.held_by, work.held_as = hook, self._table.last_held
        hook.held[work.held_as] = work.request
        self._look_again(now)

    def _look_again(self, now: Instant) -> None:
        if not self._looks:
            self._looks = True
            self._effects.append(SetTimer(HELD_TIMER, now + LOOK_EVERY))

    def _wake(self, now: Instant, what: object) -> None:
        """Continue requests whose delay is over, or whose hook was released."""
        if what != HELD_TIMER[1]:
            assert isinstance(what, int)
            link = self._links[self._timers.pop(what)]
            assert link.work is not None, "a link that closes takes its timer along"
            link.work.timer = 0
            self._resume(now, link, link.work)
            return
        self._looks = False
        holding = [link for link in self._links.values() if link.work is not None and link.work.held_by is not None]
        for link in holding:
            work = link.work
            if work is None or work.held_by is None or not work.held_by.is_removed:
                continue
            work.held_by.held.pop(work.held_as, None)
            work.held_by = None
            self._resume(now, link, work)
        if any(link.work is not None and link.work.held_by is not None for link in self._links.values()):
            self._look_again(now)

    def _resume(self, now: Instant, link: HookedLink, work: Work) -> None:
        """Continue with a waiting request, or with its response."""
        if work.answer is None:
            self._go_on(now, link, work)
        else:
            self._send_answer(now, link, work, work.answer)

    def _respond(self, now: Instant, link: HookedLink, work: Work, answer: Message) -> None:
        wanted = by_key(work.asked.head.api_key).response
        if not isinstance(answer, wanted):
            raise UsageError(f"a hook answers {work.request.body.NAME} with a {wanted.__name__}, not with {answer!r}")
        if work.is_unanswered:
            self._finish(link)
        else:
            self._answer(now, link, work, answer)

    def _end_link(self, now: Instant, link: HookedLink, work: Work, *, is_applied: bool) -> None:
        if is_applied:
            work.closes = True
            self._hand_over(now, link, work, work.frame)
        else:
            self._close(link)

    def _is_for_rows(self, work: Work, hook: Hook, action: Answer) -> bool:
        """Return whether an error belongs to rows of the response rather than to all of it."""
        head, body = work.asked.head, work.request.body
        return can_split(by_key(head.api_key).response, head.api_version) and (
            hook.criteria.topic is not None
            or bool(work.rules)
            or isinstance(body, MetadataRequest)  # Its response also lists the brokers.
            or (isinstance(body, FetchRequest) and action.error not in SESSION_ERRORS)
        )

    def _refuse(self, now: Instant, link: HookedLink, work: Work, action: Answer) -> None:
        """Respond to the whole request with an error."""
        refused = error_response(work.request.body, work.request.version, action.error, action.message)
        if action.is_applied:
            work.closes = work.is_unanswered
            work.rewrite = lambda _: refused
            self._hand_over(now, link, work, work.frame)
        elif work.is_unanswered:
            self._close(link)  # As in Kafka: a client without responses learns of an error this way.
        else:
            self._answer(now, link, work, refused)

    def _hand_over_rest(self, now: Instant, link: HookedLink, work: Work) -> None:
        """Pass the rows of the request without a hook's error to the inner node, and join both responses."""
        asked, body = work.asked, work.request.body
        if isinstance(body, ApiVersionsRequest) and self._table.caps and not work.is_node:
            work.rewrite = self._show_caps
        if not work.rules:
            self._hand_over(now, link, work, work.frame)
            return
        work.closes = work.is_unanswered
        left = isinstance(body, FetchRequest | MetadataRequest) or any(work.goes_on(*row) for row in asked.rows)
        if not left and work.closes:
            self._close(link)
        elif not left:
            self._answer(now, link, work, with_errors(asked, None, work.error_at))
        else:
            work.rewrite = lambda answer: with_errors(asked, answer, work.error_at)
            self._hand_over(now, link, work, self._rest_of(work))

    def _rest_of(self, work: Work) -> Chunk:
        """Return the frame of the request without the rows that have a hook's error."""
        asked, head = work.asked, work.asked.head
        if isinstance(work.request.body, FetchRequest):
            # The session must know all partitions of the request; the records read for rows with an error are not sent.
            rest = asked.without(lambda *_: True)
            assert isinstance(rest, FetchRequest)
            rest.max_wait_ms = 0
        elif asked.is_all:
            return work.frame
        else:
            rest = asked.without(work.goes_on)
        return encode_request(rest, head.api_version, correlation_id=head.correlation_id, client_id=head.client_id)

    def _show_caps(self, answer: Message) -> Message:
        """Return an ApiVersions response without the versions above the caps."""
        assert isinstance(answer, ApiVersionsResponse)
        known = {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}
        answer.api_keys = [
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in self.capped(known).items()
        ]
        if any(self._table.caps.get(key, last + 1) <= last for key, last in _BEFORE_TRANSACTIONS_V2.items()):
            # A client that sees the feature level would rely on those versions.
            answer.finalized_features = [row for row in answer.finalized_features if row.name != TRANSACTION_VERSION]
            answer.supported_features = [row for row in answer.supported_features if row.name != TRANSACTION_VERSION]
        return answer


def _is_unanswered(frame: Chunk, head: RequestHead | None) -> bool:
    """Return whether a node sends no response to a valid request."""
    if head is None or head.api_key != PRODUCE:
        return False
    try:
        return produce_acks(frame, head) == Acks.NONE
    except ProtocolError:
        return False  # It is refused.
