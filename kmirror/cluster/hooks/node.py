"""A node with hooks: requests come in here first, one of each link at a time, and answers leave through it.

    waiting -> hooks, in order -> the node inside -> its answer, with what hooks have to say -> the next request

It keeps no state of the cluster: whoever restarts a node puts a new one of these around it. A hook that is released
wakes nobody, so that it may be released from any thread; while something is held a timer looks every few milliseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kmirror.cluster.hooks.actions import Answer, Close, Delay, Hold, Respond, Silence, Watch
from kmirror.cluster.hooks.answers import can_split, with_errors
from kmirror.cluster.hooks.hook import Held, Hook
from kmirror.cluster.hooks.received import ReceivedRequest, Row
from kmirror.cluster.hooks.requests import Asked, Within, is_of_node
from kmirror.cluster.hooks.table import HookTable
from kmirror.cluster.refusal import refusal
from kmirror.cluster.server import API_VERSIONS, WAITING_BYTES_MAX, WAITING_MAX, Versions
from kmirror.errors import ProtocolError, UsageError
from kmirror.kernel.clock import MILLISECOND, Duration, Instant, to_ms
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
from kmirror.kernel.wrapping import Wrapper, innermost
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
from kmirror.protocol.registry import by_key, key_of
from kmirror.spec.client_versions import TRANSACTIONS_V1_LAST
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import TRANSACTION_VERSION
from kmirror.spec.wire_values import Acks

TIMER = "hooks"
HELD_TIMER = (TIMER, "held")
LOOK_EVERY: Duration = 5 * MILLISECOND
SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)
"""What the field at the top of a Fetch answer is for; any other error belongs to partitions."""
Rewrite = Callable[[Message], Message]
"""Returns what is answered instead of the node's answer."""
PRODUCE = key_of(ProduceRequest)


@dataclass(slots=True)
class _Rule:
    """What a hook has decided about some rows."""

    hook: Hook
    action: Answer


@dataclass(slots=True)
class _Work:
    """The request of a link that is in work."""

    asked: Asked
    frame: Chunk
    request: ReceivedRequest
    is_node: bool
    passed: list[Hook] = field(default_factory=list)
    """The hooks that have taken it."""
    rules: list[_Rule] = field(default_factory=list)
    held_by: Held | None = None
    held_as: int = 0
    timer: int = 0
    closes: bool = False
    """Close the link instead of answering."""
    is_silent: bool = False
    """Nothing is answered, neither to it nor to what comes behind it."""
    rewrite: Rewrite | None = None

    @property
    def is_unanswered(self) -> bool:
        """Return whether the node inside says nothing to it."""
        return isinstance(self.request.body, ProduceRequest) and self.request.body.acks == Acks.NONE

    def rule_of(self, topic: str | None, index: int | None) -> _Rule | None:
        """Return what was decided about a row."""
        if index is None and self.asked.asks_partitions:
            return None
        return next((rule for rule in self.rules if rule.hook.takes_row((topic, index))), None)

    def error_at(self, topic: str | None, index: int | None) -> tuple[ErrorCode, str] | None:
        """Return the error that was decided for a row."""
        rule = self.rule_of(topic, index)
        return None if rule is None else (rule.action.error, rule.action.message)

    def goes_on(self, topic: str | None, index: int | None) -> bool:
        """Return whether the node inside is asked about a row."""
        rule = self.rule_of(topic, index)
        return rule is None or rule.action.is_applied

    def open_rows(self) -> list[Row]:
        """Return the rows about which nothing is decided."""
        return [row for row in self.asked.rows if self.rule_of(*row) is None]


@dataclass(slots=True)
class _Link:
    client: LinkOpened
    waiting: deque[Chunk] = field(default_factory=deque)
    waiting_bytes: int = 0
    is_busy: bool = False
    """A request is in work; `work` is None for one that is none of the hooks' business."""
    work: _Work | None = None
    inner_reads: bool = True
    is_full: bool = False

    @property
    def is_read(self) -> bool:
        return self.inner_reads and not self.is_full


_BEFORE_TRANSACTIONS_V2 = {
    key_of(request): TRANSACTIONS_V1_LAST[request.NAME] for request in (ProduceRequest, EndTxnRequest)
}


class HookedNode(Wrapper):
    """A broker or controller whose requests go through the hooks of a table."""

    def __init__(self, table: HookTable, inner: Node) -> None:
        super().__init__(inner)
        self._table = table
        self._node = Within(innermost(inner))
        self._links: dict[InboundLink, _Link] = {}
        self._timers: dict[int, InboundLink] = {}
        self._next_timer = 0
        self._looks = False
        """The timer for what is held is set."""
        self._effects: list[Effect] = []
        self._ready: deque[_Link] = deque()
        self._closed: deque[InboundLink] = deque()
        """Links that a hook closed, of which the node inside does not know yet."""

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link, frame) if link in self._links:
                self._receive(self._links[link], frame)
            case TimerFired((name, what)) if name == TIMER:
                self._wake(now, what)
            case LinkOpened():
                self._links[event.link] = _Link(event)
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
        """Return what clients are offered of what the node serves."""
        caps = self._table.caps
        found = {key: (first, min(last, caps.get(key, last))) for key, (first, last) in versions.items()}
        return {key: (first, last) for key, (first, last) in found.items() if first <= last}

    def forget_held(self) -> None:
        """Let hooks hold nothing of this node any more: it was killed."""
        for link in list(self._links):
            self._forget(link)

    # -- the node inside ----------------------------------------------------------------------

    def _pass(self, now: Instant, event: Event) -> None:
        """Give an event to the node inside, and look through what it wants."""
        for effect in self.inner.handle(now, event):
            match effect:
                case Reply(name):
                    self._on_reply(self._links.get(name), effect)
                case CloseLink(InboundLink() as gone):
                    self._forget(gone)
                    self._effects.append(effect)
                case StopReading(name) | ResumeReading(name):
                    self._read(self._links.get(name), inner=isinstance(effect, ResumeReading))
                case _:
                    self._effects.append(effect)

    def _on_reply(self, link: _Link | None, reply: Reply) -> None:
        if link is None:
            return  # The link was closed by a hook.
        work = link.work
        if work is not None and work.closes:
            self._close(link)
            return
        if work is not None and work.is_silent:
            return
        if work is None or work.rewrite is None:
            self._effects.append(reply)
        else:
            head = work.asked.head
            body = decode_response(b"".join(reply.chunks), head.api_key, head.api_version).body
            self._reply(link, head, work.rewrite(body))
        self._finish(link)

    # -- links --------------------------------------------------------------------------------

    def _receive(self, link: _Link, frame: Chunk) -> None:
        link.waiting.append(frame)
        link.waiting_bytes += len(frame)
        if not link.is_busy:
            self._ready.append(link)
        elif len(link.waiting) >= WAITING_MAX or link.waiting_bytes >= WAITING_BYTES_MAX:
            self._read(link, full=True)

    def _read(self, link: _Link | None, *, inner: bool | None = None, full: bool | None = None) -> None:
        """Have the link read or not: neither this nor the node inside may want it to stop."""
        if link is None:
            return
        before = link.is_read
        link.inner_reads = link.inner_reads if inner is None else inner
        link.is_full = link.is_full if full is None else full
        if before != link.is_read:
            name = link.client.link
            self._effects.append(ResumeReading(name) if link.is_read else StopReading(name))

    def _next(self, now: Instant, link: _Link) -> None:
        """Take up the next request of a link that is not busy."""
        if link.is_busy or not link.waiting or link.client.link not in self._links:
            return
        frame = link.waiting.popleft()
        link.waiting_bytes -= len(frame)
        if not link.waiting:
            self._read(link, full=False)
        link.is_busy = True
        try:
            head = peek_request(frame)
            if head.api_key != PRODUCE and not self._table.caps and not self._table.live():
                self._hand_over(now, link, frame)  # It need not be decoded.
            elif not self._is_capped(link, head):
                asked = Asked(head, frame, self._node)
                request = ReceivedRequest(
                    self._node.node_id,
                    to_ms(now),
                    link.client,
                    head.client_id,
                    head.correlation_id,
                    head.api_version,
                    asked.body,
                )
                link.work = _Work(asked, frame, request, is_of_node(head))
                self._go_on(now, link, link.work)
        except ProtocolError:
            self._hand_over(now, link, frame)  # The node inside says what is wrong with it.

    def _hand_over(self, now: Instant, link: _Link, frame: Chunk) -> None:
        """Give a request to the node inside."""
        work = link.work
        self._pass(now, RequestReceived(link.client.link, frame))
        if work is not None and work is link.work and work.is_unanswered and not work.is_silent:
            if work.closes and link.client.link in self._links:
                self._close(link)
            self._finish(link)

    def _finish(self, link: _Link) -> None:
        link.is_busy = False
        link.work = None
        if link.waiting:
            self._ready.append(link)

    def _reply(self, link: _Link, head: RequestHead, answer: Message, version: int | None = None) -> None:
        chunks = encode_response_chunks(
            answer, head.api_version if version is None else version, correlation_id=head.correlation_id
        )
        self._effects.append(Reply(link.client.link, tuple(chunks)))

    def _close(self, link: _Link) -> None:
        """Close a link, for the node inside as if the client had."""
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

    def _is_capped(self, link: _Link, head: RequestHead) -> bool:
        """Return whether a request has a version that clients are not offered; it is dealt with then."""
        cap = self._table.caps.get(head.api_key)
        if cap is None or head.api_version <= cap or is_of_node(head):
            return False
        if head.api_key == API_VERSIONS:  # As any broker answers a newer one (KIP-511).
            rows = [ApiVersion(api_key=API_VERSIONS, min_version=0, max_version=cap)]
            answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=rows)
            self._reply(link, head, answer, 0)
            self._finish(link)
        else:
            text = f"api key {head.api_key} version {head.api_version} is above the cap {cap}"
            self._effects.append(Note(f"closing {link.client.link.name}: {text}"))
            self._close(link)
        return True

    def _go_on(self, now: Instant, link: _Link, work: _Work) -> None:
        """Ask the hooks that were not asked yet, until one lets the request wait or decides about all of it."""
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
                case Delay(span):
                    self._delay(now, link, work, span)
                    return
                case Hold():
                    self._hold(now, work, hook)
                    return
                case Respond(make):
                    self._respond(link, work, make(work.request))
                    return
                case Silence(is_applied):
                    work.is_silent = True
                    if is_applied:
                        self._hand_over(now, link, work.frame)
                    return
                case Close(is_applied):
                    self._end_link(now, link, work, is_applied=is_applied)
                    return
                case Answer():
                    if not self._is_for_rows(work, hook, hook.action):
                        self._refuse(now, link, work, hook.action)
                        return
                    work.rules.append(_Rule(hook, hook.action))
        self._hand_over_rest(now, link, work)

    def _is_moot(self, work: _Work, hook: Hook) -> bool:
        """Return whether a request that names nothing has nothing that an error of this hook could be about."""
        action = hook.action
        is_for_rows = isinstance(action, Answer) and action.error not in SESSION_ERRORS
        return is_for_rows and isinstance(work.request.body, FetchRequest)

    def _delay(self, now: Instant, link: _Link, work: _Work, span: Duration) -> None:
        self._next_timer += 1
        work.timer = self._next_timer
        self._timers[work.timer] = link.client.link
        self._effects.append(SetTimer((TIMER, work.timer), now + span))

    def _hold(self, now: Instant, work: _Work, hook: Hook) -> None:
        assert isinstance(hook, Held)
        self._table.last_held += 1
        work.held_by, work.held_as = hook, self._table.last_held
        hook.held[work.held_as] = work.request
        self._look_again(now)

    def _look_again(self, now: Instant) -> None:
        if not self._looks:
            self._looks = True
            self._effects.append(SetTimer(HELD_TIMER, now + LOOK_EVERY))

    def _wake(self, now: Instant, what: object) -> None:
        """Let go on what was delayed until now, or what was released meanwhile."""
        if what != HELD_TIMER[1]:
            assert isinstance(what, int)
            link = self._links[self._timers.pop(what)]
            assert link.work is not None, "a link that closes takes its timer along"
            link.work.timer = 0
            self._go_on(now, link, link.work)
            return
        self._looks = False
        holding = [link for link in self._links.values() if link.work is not None and link.work.held_by is not None]
        for link in holding:
            work = link.work
            if work is None or work.held_by is None or not work.held_by.is_removed:
                continue
            work.held_by.held.pop(work.held_as, None)
            work.held_by = None
            self._go_on(now, link, work)
        if any(link.work is not None and link.work.held_by is not None for link in self._links.values()):
            self._look_again(now)

    def _respond(self, link: _Link, work: _Work, answer: Message) -> None:
        wanted = by_key(work.asked.head.api_key).response
        if not isinstance(answer, wanted):
            raise UsageError(f"a hook answers {work.request.body.NAME} with a {wanted.__name__}, not with {answer!r}")
        if not work.is_unanswered:
            self._reply(link, work.asked.head, answer)
        self._finish(link)

    def _end_link(self, now: Instant, link: _Link, work: _Work, *, is_applied: bool) -> None:
        if is_applied:
            work.closes = True
            self._hand_over(now, link, work.frame)
        else:
            self._close(link)

    def _is_for_rows(self, work: _Work, hook: Hook, action: Answer) -> bool:
        """Return whether an error belongs to rows of the answer, and not to the whole of it."""
        head, body = work.asked.head, work.request.body
        return can_split(by_key(head.api_key).response, head.api_version) and (
            hook.criteria.topic is not None
            or bool(work.rules)
            or isinstance(body, MetadataRequest)  # Its answer names the brokers too.
            or (isinstance(body, FetchRequest) and action.error not in SESSION_ERRORS)
        )

    def _refuse(self, now: Instant, link: _Link, work: _Work, action: Answer) -> None:
        """Answer the whole request with an error."""
        refused = refusal(work.request.body, work.request.version, action.error, action.message)
        if action.is_applied:
            work.closes = work.is_unanswered
            work.rewrite = lambda _: refused
            self._hand_over(now, link, work.frame)
        elif work.is_unanswered:
            self._close(link)  # As Kafka does: a client that wants no answer hears of an error by this.
        else:
            self._reply(link, work.asked.head, refused)
            self._finish(link)

    def _hand_over_rest(self, now: Instant, link: _Link, work: _Work) -> None:
        """Ask the node inside about all that no hook has answered, and put both answers together."""
        asked, body = work.asked, work.request.body
        if isinstance(body, ApiVersionsRequest) and self._table.caps and not work.is_node:
            work.rewrite = self._show_caps
        if not work.rules:
            self._hand_over(now, link, work.frame)
            return
        work.closes = work.is_unanswered
        left = isinstance(body, FetchRequest | MetadataRequest) or any(work.goes_on(*row) for row in asked.rows)
        if not left and work.closes:
            self._close(link)
        elif not left:
            self._reply(link, asked.head, with_errors(asked, None, work.error_at))
            self._finish(link)
        else:
            work.rewrite = lambda answer: with_errors(asked, answer, work.error_at)
            self._hand_over(now, link, self._rest_of(work))

    def _rest_of(self, work: _Work) -> Chunk:
        """Return the frame of the request without the rows that hooks have answered."""
        asked, head = work.asked, work.asked.head
        if isinstance(work.request.body, FetchRequest):
            # The session has to know all that was named; what is read for the rows with an error is not sent.
            rest = asked.without(lambda *_: True)
            assert isinstance(rest, FetchRequest)
            rest.max_wait_ms = 0
        elif asked.is_all:
            return work.frame
        else:
            rest = asked.without(work.goes_on)
        return encode_request(rest, head.api_version, correlation_id=head.correlation_id, client_id=head.client_id)

    def _show_caps(self, answer: Message) -> Message:
        """Return what a node serves without the versions above the caps."""
        assert isinstance(answer, ApiVersionsResponse)
        known = {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}
        answer.api_keys = [
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in self.capped(known).items()
        ]
        if any(self._table.caps.get(key, last + 1) <= last for key, last in _BEFORE_TRANSACTIONS_V2.items()):
            # A client that was told of the level would count on the versions.
            answer.finalized_features = [row for row in answer.finalized_features if row.name != TRANSACTION_VERSION]
            answer.supported_features = [row for row in answer.supported_features if row.name != TRANSACTION_VERSION]
        return answer
