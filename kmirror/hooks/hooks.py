"""`Hooks`: faults of brokers for tests of clients, and observers of requests.

    hooks = Hooks()
    with Simulation() as simulation, Cluster(simulation, "a", interpose=hooks) as a:
        hooks.on(ProduceRequest, topic="orders", partition=0, times=2).answer(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        held = hooks.on(FetchRequest, node=1).hold()
        ...
        held.release()

Hooks are checked in the order in which they were added, and a request is taken by every hook that matches. After
`watch`, `delay`, `hold`, `throttle` and `slow` it passes to the next hook and finally to the broker; the other actions
end its processing. As in any broker, the requests of a link are served one after the other, so those behind a held or
delayed request wait.

Hooks take requests of clients. Those of the cluster's own brokers, which have client ids such as `broker-1`, pass
through unless `from_nodes` is set, so that replication continues.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.errors import UsageError
from kmirror.hooks.actions import (
    Action,
    Close,
    Criteria,
    Delay,
    Drop,
    Hold,
    RespondWithError,
    RespondWithMessage,
    Slow,
    Throttle,
    Watch,
)
from kmirror.hooks.hook import HoldHook, Hook
from kmirror.hooks.node import HookedNode
from kmirror.hooks.received import ReceivedRequest
from kmirror.hooks.requests import is_for_clients, names_partitions, names_topics
from kmirror.hooks.table import HookTable
from kmirror.kernel import arguments
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.events import Node
from kmirror.kernel.rng import SEED_MAX, Rng
from kmirror.protocol.message import Message
from kmirror.protocol.registry import all_apis, key_of
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.releases import RELEASES, last_version

INT32_MAX = (1 << 31) - 1


class Hooks:
    """The hooks of one cluster: pass this to it as `interpose`, then call `on`, at any time and from any thread."""

    def __init__(self, seed: int = 0) -> None:
        """Set the seed for the probabilities."""
        self._rng = Rng(arguments.whole_number("seed", seed, 0, SEED_MAX))
        self._table = HookTable()
        self._nodes: dict[str, HookedNode] = {}
        self._added = 0

    def __call__(self, name: str, node: Node) -> Node:
        """Return a new broker or controller wrapped in these hooks; `name` is that of its process."""
        previous = self._nodes.get(name)
        if previous is not None:
            previous.forget_held()
        self._nodes[name] = new = HookedNode(self._table, node)
        return new

    def on(
        self,
        request: type[Message] | None = None,
        *,
        node: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
        times: int | None = None,
        probability: float = 1.0,
        where: Callable[[ReceivedRequest], bool] | None = None,
        from_nodes: bool | None = None,
        client_id: str | None = None,
        versions: tuple[int, int] | None = None,
        nth: int = 1,
        every: int = 1,
    ) -> On:
        """Choose requests: of an API (None for all), to a node, about a topic or one of its partitions.

        `times` limits the number of requests that are taken, None means all until the hook is removed. `probability` is
        drawn from the seed for each request; `where` must return true for it. `client_id` must be equal, `versions` are
        the first and the last version (inclusive). `nth` is the first matching request that is taken, and after it
        every `every`-th.

        `from_nodes` includes the requests of the cluster's own brokers; None means only for APIs that clients do not
        use, such as AlterPartition. Raises UsageError for criteria that no request can meet. Nothing happens until a
        method of the returned object is called.
        """
        if request is not None:
            _check_request(request)
        if topic is not None:
            arguments.text("topic", topic)
        elif partition is not None:
            raise UsageError("partition needs topic: give both")
        if topic is not None and request is not None and not names_topics(request):
            raise UsageError(f"{request.NAME} names no topics: leave topic out")
        if partition is not None:
            arguments.whole_number("partition", partition, 0)
            if request is not None and not names_partitions(request):
                raise UsageError(f"{request.NAME} names topics and no partitions: leave partition out")
        if node is not None:
            arguments.whole_number("node", node, 0)
        if times is not None:
            arguments.whole_number("times", times, 1)
        _check_probability(probability)
        if where is not None:
            arguments.callback("where", where)
        if client_id is not None:
            arguments.text("client_id", client_id)
        if versions is not None:
            _check_versions(versions)
        arguments.whole_number("nth", nth, 1)
        arguments.whole_number("every", every, 1)
        if from_nodes is None:
            from_nodes = request is not None and not is_for_clients(request)
        criteria = Criteria(
            request,
            node,
            topic,
            partition,
            times,
            probability,
            where,
            from_nodes,
            client_id,
            versions,
            nth,
            every,
        )
        return On(self, criteria)

    def cap(self, request: type[Message], version: int | None) -> None:
        """Offer clients versions of an API up to `version` only, like an older broker; None removes the cap.

        The ApiVersions response has this version, or lacks the API if no version is left. A newer request closes its
        link, as in a broker that does not know the version; a newer ApiVersions is answered with UNSUPPORTED_VERSION as
        usual (KIP-511).
        """
        _check_request(request)
        caps = dict(self._table.caps)
        if version is None:
            caps.pop(key_of(request), None)
        else:
            caps[key_of(request)] = arguments.whole_number("version", version, -1)
        self._table.caps = caps

    def play(self, release: str) -> None:
        """Offer clients the APIs and versions of an earlier release, such as "2.8", as far as they are served here.

        Known releases are `kmirror.spec.releases.RELEASES`; raises UsageError for others. Replaces earlier caps.
        """
        if release not in RELEASES:
            raise UsageError(f"release must be one of {', '.join(RELEASES)}, not {arguments.shown(release)}")
        self._table.caps = {api.key: last_version(api.name, release) for api in all_apis()}

    def clear(self) -> None:
        """Remove all hooks, release the held requests, and remove all caps."""
        for hook in self._table.hooks:
            hook.remove()
        self._table.hooks = ()
        self._table.caps = {}

    def _add(self, criteria: Criteria, action: Action) -> Hook:
        self._added += 1
        rng = self._rng.split(f"hook {self._added}")
        new = (HoldHook if isinstance(action, Hold) else Hook)(criteria, action, rng)
        self._table.hooks = (*self._table.active_hooks(), new)
        return new


class On:
    """Requests chosen by `Hooks.on`; each method adds a hook that takes them from now on."""

    def __init__(self, hooks: Hooks, criteria: Criteria) -> None:
        self._hooks = hooks
        self._criteria = criteria

    def answer(self, error: ErrorCode, message: str | None = None) -> Hook:
        """Respond with an error, without applying the request; `message` is used where the response has a field for it.

        The error is set where a broker would set it. With a topic or partition it applies to that one only: the broker
        handles the rest of the request, and both are joined in one response. In Fetch and Metadata it is always an
        error of partitions and of topics, except the errors of a fetch session. A Produce with acks=0 has its link
        closed.
        """
        return self._respond_with_error(error, message, is_applied=False)

    def apply_then(self, error: ErrorCode, message: str | None = None) -> Hook:
        """Apply the request, then respond with an error, set as by `answer`."""
        return self._respond_with_error(error, message, is_applied=True)

    def _respond_with_error(self, error: ErrorCode, message: str | None, *, is_applied: bool) -> Hook:
        arguments.member("error", error, ErrorCode)
        if error is ErrorCode.NONE:
            raise UsageError("NONE is not an error: use `watch` to observe requests, or `respond` to send a message")
        text = error.text if message is None else arguments.text("message", message)
        return self._add(RespondWithError(error, text, is_applied))

    def respond(self, answer: Message | Callable[[ReceivedRequest], Message]) -> Hook:
        """Respond with a message, or with the result of a function for each request; the broker does nothing."""
        if isinstance(answer, Message):
            return self._add(RespondWithMessage(lambda _: answer))
        arguments.callback("answer", answer)
        return self._add(RespondWithMessage(answer))

    def delay(self, ms: float, *, applied: bool = False) -> Hook:
        """Delay the request, and those behind it on its link, by `ms` milliseconds.

        With `applied` the broker applies the request at once, and its response is delayed.
        """
        return self._add(Delay(round(arguments.milliseconds("ms", ms) * MILLISECOND), applied))

    def throttle(self, ms: int) -> Hook:
        """Set the throttle time of the response to `ms` milliseconds, if it has the field.

        The broker applies the request. The client throttles itself (KIP-219): its link is still served.
        """
        return self._add(Throttle(arguments.whole_number("ms", ms, 1, INT32_MAX)))

    def slow(self, bytes_per_s: int) -> Hook:
        """Make the request and its response take as long as on a link with `bytes_per_s`, each on its own."""
        return self._add(Slow(arguments.whole_number("bytes_per_s", bytes_per_s, 1)))

    def hold(self, *, applied: bool = False) -> HoldHook:
        """Hold requests, and those behind them on their links, until `release` of the returned hook.

        With `applied` the broker applies the requests, and their responses are held.
        """
        hook = self._add(Hold(applied))
        assert isinstance(hook, HoldHook)
        return hook

    def drop(self, *, applied: bool = False) -> Hook:
        """Never respond, like a broker that hangs, nor to later requests on the link, as responses come in order.

        With `applied` the broker applies the request.
        """
        return self._add(Drop(applied))

    def close(self, *, applied: bool = False) -> Hook:
        """Close the link without a response; with `applied` after the broker has applied the request."""
        return self._add(Close(applied))

    def watch(self, call: Callable[[ReceivedRequest], object]) -> Hook:
        """Call `call` with each request when its turn on its link has come; on TCP in the thread of the cluster."""
        arguments.callback("call", call)
        return self._add(Watch(call))

    def _add(self, action: Action) -> Hook:
        return self._hooks._add(self._criteria, action)


def _check_request(request: object) -> None:
    """Raise UsageError unless this is a request class."""
    if not isinstance(request, type) or not (issubclass(request, Message) and request.TYPE == "request"):
        raise UsageError(f"request must be a request class, such as FetchRequest, not {arguments.shown(request)}")


def _check_probability(value: object) -> None:
    if type(value) is bool or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"probability must be a number from 0 to 1, not {arguments.shown(value)}")


def _check_versions(value: object) -> None:
    is_pair = isinstance(value, tuple) and len(value) == 2 and all(type(one) is int and one >= 0 for one in value)
    if not is_pair:
        raise UsageError(
            f"versions must be the first and the last version, such as (0, 8), not {arguments.shown(value)}"
        )
