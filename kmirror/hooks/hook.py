"""A hook: the requests that it takes, and its action."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from kmirror.hooks.actions import Action, Criteria
from kmirror.hooks.received import ReceivedRequest, Row
from kmirror.kernel.rng import Rng
from kmirror.protocol.careful import is_within

if TYPE_CHECKING:
    from types import TracebackType

DRAW_VALUES = 1 << 64
"""Number of values of a draw."""


@dataclass(eq=False, slots=True)
class Hook:
    """An added hook; it ends with `remove`, or at the end of a `with` block."""

    criteria: Criteria
    action: Action
    rng: Rng
    """Random stream of this hook, for its probability."""
    count: int = 0
    """Number of requests taken."""
    seen: int = 0
    """Number of matching requests; `nth` and `every` choose among them."""
    is_removed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Take no more requests."""
        self.is_removed = True

    @property
    def is_over(self) -> bool:
        """Return whether it takes no more requests."""
        times = self.criteria.times
        return self.is_removed or (times is not None and self.count >= times)

    def matches_row(self, row: Row) -> bool:
        """Return whether the hook is for a row of a request."""
        topic, partition = self.criteria.topic, self.criteria.partition
        return (topic is None or topic == row[0]) and (partition is None or partition == row[1])

    def take(self, request: ReceivedRequest, rows: Iterable[Row], *, is_node: bool) -> bool:
        """Return whether the hook takes a request, and count it if so; `rows` have no decision of another hook yet."""
        criteria = self.criteria
        if (
            self.is_over
            or (criteria.request is not None and type(request.body) is not criteria.request)
            or (criteria.node is not None and criteria.node != request.node_id)
            or (is_node and not criteria.from_nodes)
            or (criteria.topic is not None and not any(self.matches_row(row) for row in rows))
            or (criteria.client_id is not None and criteria.client_id != request.client_id)
            or (criteria.versions is not None and not is_within(request.version, criteria.versions))
            or (criteria.where is not None and not criteria.where(request))
        ):
            return False
        self.seen += 1
        if self.seen < criteria.nth or (self.seen - criteria.nth) % criteria.every:
            return False
        if criteria.probability < 1 and self.rng.next64() >= criteria.probability * DRAW_VALUES:
            return False
        self.count += 1
        return True


@dataclass(eq=False, slots=True)
class HoldHook(Hook):
    """A hook that holds requests until it is released."""

    held: dict[int, ReceivedRequest] = field(default_factory=dict)
    """The held requests, by a number from the table."""

    @property
    def requests(self) -> list[ReceivedRequest]:
        """Return the requests held now, in order of arrival.

        Requests of closed links are removed, and so are those of a broker that was killed, once it is restarted.
        """
        return list(self.held.values())

    def release(self) -> None:
        """Pass on the held requests within a few milliseconds, and hold no more."""
        self.remove()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
