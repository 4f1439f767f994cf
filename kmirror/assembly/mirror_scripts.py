"""Operations on a mirror, independent of the runner. Each one is a method of `MirrorScripts`.

Methods are coroutines: asyncio runs them over TCP, and the simulator in virtual time. Each runner adds its way to send
requests to the two clusters. `BlockingMirror` has the same methods for programs that do not use asyncio.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kmirror.assembly import mirrors
from kmirror.assembly.mirrors import WITHIN_S, Description, Difference, Goal, MirrorRow
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import as_names
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

T = TypeVar("T")


class MirrorScripts(ABC):
    """The operations of mirror `name`; requests go to brokers of the destination.

    Raises KafkaError UNKNOWN_MIRROR if the destination has no such mirror. An operation that takes longer than
    `within_s` fails with KafkaError REQUEST_TIMED_OUT over TCP, and with SimulationFailure in the simulator, whose
    seconds are virtual. The error has the states of the partitions and the reasons.
    """

    def __init__(
        self, name: str, servers: str | None, cluster: str, clusters: str, moment: Callable[[], str] = str
    ) -> None:
        """`servers` are the source's; errors name `cluster`, the destination, or `clusters`, and end with `moment`."""
        self.name = arguments.text("name", name)
        self._servers = servers
        self._cluster = cluster
        self._clusters = clusters
        self._moment = moment

    async def create(self, configs: Mapping[str, str] | None = None) -> None:
        """Create the mirror; KafkaError if the cluster rejects it."""
        await self._change(mirrors.create_request(self.name, self._servers, configs))

    async def add_topics(self, topics: Iterable[str]) -> None:
        """Add topics, with their ids if the source has them; KafkaError if one is rejected.

        A topic that the source does not have yet is added too, as in KIP-1279, and is mirrored once it exists. Until
        then `catch_up` and `difference` fail with an error that names it.
        """
        names = as_names(topics)
        ids = await self._source_ids(names)
        await self._change(mirrors.add_topics_request(self.name, {name: ids.get(name, Uuid.ZERO) for name in names}))

    async def remove_topics(self, topics: Iterable[str]) -> None:
        """Remove topics, which starts their failover; KafkaError if one is rejected."""
        await self._change(mirrors.remove_topics_request(self.name, as_names(topics)))

    async def pause(self, topics: Iterable[str]) -> None:
        """Pause topics: they stay read-only, and are not fetched until `resume`; KafkaError if one is rejected.

        This returns once the pause is decided; `wait_for_state` waits until the partitions are PAUSED.
        """
        await self._change(mirrors.pause_topics_request(self.name, as_names(topics)))

    async def resume(self, topics: Iterable[str]) -> None:
        """Resume paused topics at their log end offsets, without truncation; KafkaError if one is rejected."""
        await self._change(mirrors.resume_topics_request(self.name, as_names(topics)))

    async def delete(self) -> None:
        """Delete the mirror, its configs and its states; a later failback must copy everything.

        Raises KafkaError MIRROR_NOT_EMPTY with the remaining partitions unless every topic was removed and is STOPPED.
        """
        await self._change(mirrors.delete_request(self.name))

    async def alter(self, configs: Mapping[str, str | None]) -> None:
        """Set configs of the mirror, which take effect at once; None restores the default.

        Raises KafkaError if one is rejected; nothing is changed then.
        """
        await self._change(mirrors.alter_request(self.name, configs))

    async def describe(self) -> list[MirrorRow]:
        """Describe the mirror's partitions at all live brokers of the destination; rows sorted by partition.

        Partitions that no broker reports have a row too.
        """
        return (await self._describe_with_unreported([self.name])).get(self.name, Description()).rows

    async def reason(self) -> str:
        """Return why brokers of the destination cannot communicate with the source, and their ids; empty if all can."""
        return (await self._described()).reason

    async def warning(self) -> str:
        """Return warnings for the operator that do not stop any partition; empty if there are none."""
        return (await self._described()).warning

    @abstractmethod
    async def topics(self) -> list[str]:
        """Return the names of all topics in this mirror, whether they exist at the destination or not.

        They include removed topics, except those that were never created at the destination.
        """

    async def partitions(self) -> list[TopicPartition]:
        """Return the partitions, at the source, of the topics in this mirror that the source has."""
        return await self._partitions(await self.topics(), at_source=True)

    async def wait_for_state(
        self,
        state: MirrorState,
        partitions: Iterable[TopicPartition],
        *,
        within_s: float = WITHIN_S,
        caught_up: bool = False,
        watch: Callable[[list[MirrorRow]], None] | None = None,
    ) -> list[MirrorRow]:
        """Poll until every partition is in `state` and, with `caught_up`, has all records below the source's LSO.

        The lag in DescribeMirrors also counts records above the last stable offset (D22), and is not 0 then. `watch` is
        called with the rows each time. UsageError if there are no partitions to wait for.
        """
        return await self._wait_for(
            Goal.for_partitions(self.name, state, partitions, caught_up=caught_up), within_s, watch
        )

    async def catch_up(self, *, within_s: float = WITHIN_S) -> None:
        """Wait until the destination's whole ISR has all records below the source's last stable offset (LSO).

        DescribeMirrors reports the source's offset at the last fetch; this method asks the source itself. UsageError
        if the mirror has no topics. A topic that the source does not have is a KafkaError over TCP, and a UsageError in
        the simulator.
        """
        partitions = await self._comparable_partitions(has_timed_out := self._timer(within_s))
        await self._wait_for(
            Goal(MirrorState.MIRRORING, partitions, caught_up=True), within_s, has_timed_out=has_timed_out
        )

    async def fail_over(self, *, within_s: float = WITHIN_S) -> list[MirrorRow]:
        """Remove every topic and wait until all partitions are STOPPED and the destination accepts writes.

        Only the destination must be alive. A topic that was never created there is removed too. UsageError if the
        mirror has no topics.
        """
        if not (topics := await self.topics()):
            raise self._no_topics()
        await self.remove_topics(topics)
        partitions = await self._partitions(topics, at_source=False)
        return await self._wait_for(Goal(MirrorState.STOPPED, partitions), within_s)

    @abstractmethod
    async def difference(self) -> Difference | None:
        """Compare logs byte for byte, up to the source's last stable offset; return None if they are equal.

        In a compacted topic, records are compared where bytes differ, as each cleaner may have removed others (D46).
        The simulator compares every replica of the destination. Over TCP the leaders' logs are compared; KafkaError if
        one cannot be read. If the mirror has no topics, or a cluster lacks one, the errors are those of `catch_up`.
        """

    async def assert_equal(self) -> None:
        """Raise AssertionError with the first difference, if there is one.

        In the simulator the text includes the moment of the run.
        """
        difference = await self.difference()
        if difference is not None:
            raise AssertionError(f"mirror {self.name} from {self._clusters}: {difference}{self._moment()}")

    # -- provided by the runner ---------------------------------------------------------------

    @abstractmethod
    async def _send_change(self, request: Message) -> Message:
        """Send a request for a change to the destination, and return the response."""

    @abstractmethod
    async def _send_to_each(self, request: Message) -> Mapping[int, Message]:
        """Return the responses of the destination's live brokers, by broker id."""

    @abstractmethod
    async def _source_ids(self, topics: Sequence[str]) -> Mapping[str, Uuid]:
        """Return the ids of the topics that the source has."""

    @abstractmethod
    async def _partitions(self, topics: Sequence[str], *, at_source: bool) -> list[TopicPartition]:
        """Return the partitions of these topics that exist at the source, if `at_source`, or at the destination."""

    @abstractmethod
    async def _comparable_partitions(self, has_timed_out: Callable[[], bool]) -> list[TopicPartition]:
        """Return the partitions of all topics in this mirror; an error if a cluster lacks a topic, or there are none.

        An empty result would make every comparison succeed.
        """

    @abstractmethod
    async def _caught_up(self, partitions: Collection[TopicPartition]) -> list[TopicPartition]:
        """Return the partitions whose whole ISR at the destination has all records below the source's LSO."""

    @abstractmethod
    def _timer(self, within_s: float) -> Callable[[], bool]:
        """Return a function that returns whether more than `within_s` seconds have passed since this call."""

    @abstractmethod
    async def _sleep(self, span_s: float, waits_for: str = "") -> None:
        """Sleep while an operation waits for something."""

    # -- implementation -----------------------------------------------------------------------

    async def _change(self, request: Message) -> None:
        rejection = mirrors.first_error(self.name, request, await self._send_change(request))
        if rejection is not None:
            raise self._error(*rejection)

    def _error(self, error: ErrorCode, text: str) -> KafkaError:
        return KafkaError(error, text + self._moment())

    async def _described(self) -> Description:
        return (await self._describe_each([self.name])).get(self.name, Description())

    async def _describe_each(self, names: Iterable[str]) -> dict[str, Description]:
        """Return the descriptions of some mirrors, or of all, by name and sorted."""
        request = DescribeMirrorsRequest(mirror_names=sorted(names))
        found = mirrors.parse_descriptions(await self._send_to_each(request))
        if any(description.refusal is ErrorCode.UNKNOWN_MIRROR for description in found.values()):
            await self._sleep(mirrors.DESCRIBE_EVERY_S)
            found = mirrors.parse_descriptions(await self._send_to_each(request))
        for name, description in found.items():
            if error := description.refusal:
                raise self._error(error, f"cannot describe mirror {name}: {error.name}: {error.text}")
        return found

    async def _describe_with_unreported(self, names: Iterable[str]) -> dict[str, Description]:
        """Return the descriptions of some mirrors, or of all, with a row for each partition that no broker reports."""
        found = await self._describe_each(names)
        partitions = await self._destination_partitions(
            sorted({topic for description in found.values() for topic in description.names})
        )
        for description in found.values():
            description.add_unreported(partitions)
        return found

    async def _destination_partitions(self, topics: Sequence[str]) -> list[TopicPartition]:
        """Return the destination's partitions of these topics; none if the client may not describe one of them."""
        try:
            return await self._partitions(topics, at_source=False) if topics else []
        except KafkaError as error:
            if error.code is not ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                raise
            return []

    def _no_topics(self) -> UsageError:
        return UsageError(f"mirror {self.name} of {self._cluster} has no topics: call add_topics() first")

    async def _wait_for(
        self,
        goal: Goal,
        within_s: float,
        watch: Callable[[list[MirrorRow]], None] | None = None,
        has_timed_out: Callable[[], bool] | None = None,
    ) -> list[MirrorRow]:
        """Describe the mirror repeatedly until the goal is reached."""
        has_timed_out = has_timed_out or self._timer(within_s)
        if watch is not None:
            arguments.callback("watch", watch)
        while True:
            rows = await self.describe()
            if watch is not None:
                watch(rows)
            # The lag is unknown before the first fetch: until then two logs may have equal ends and still differ.
            reached = [row.tp for row in rows if row.state is goal.state and (not goal.caught_up or row.lag >= 0)]
            if goal.caught_up:
                reached = await self._caught_up([tp for tp in reached if tp in goal.partitions])
            left = sorted(set(goal.partitions).difference(reached))
            if not left:
                return rows
            waits_for = mirrors.explain(left, rows)
            if has_timed_out():
                text = f"mirror {self.name} did not {goal} within {within_s:g} s; waiting for {waits_for}"
                raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, text)
            await self._sleep(mirrors.pause_s(rows), waits_for)


class BlockingMirror(ABC):
    """A mirror whose methods return when the operation is done; see `MirrorScripts` for their details."""

    name: str

    @abstractmethod
    def _run(
        self, event: str, call: Callable[[MirrorScripts], Coroutine[Any, Any, T]], within_s: float = WITHIN_S
    ) -> T:
        """Run an operation, and return its result; `event` is the awaited event, with {} for the mirror."""

    def create(self, configs: Mapping[str, str] | None = None) -> None:
        """Create the mirror; KafkaError if the cluster rejects it."""
        self._run(mirrors.CREATED, lambda mirror: mirror.create(configs))

    def add_topics(self, topics: Iterable[str]) -> None:
        """Add topics, with their ids if the source has them; KafkaError if one is rejected."""
        self._run(mirrors.ADDED, lambda mirror: mirror.add_topics(topics))

    def remove_topics(self, topics: Iterable[str]) -> None:
        """Remove topics, which starts their failover; KafkaError if one is rejected."""
        self._run(mirrors.REMOVED, lambda mirror: mirror.remove_topics(topics))

    def pause(self, topics: Iterable[str]) -> None:
        """Pause topics: they stay read-only, and are not fetched until `resume`; KafkaError if one is rejected."""
        self._run(mirrors.PAUSED, lambda mirror: mirror.pause(topics))

    def resume(self, topics: Iterable[str]) -> None:
        """Resume paused topics at their log end offsets, without truncation; KafkaError if one is rejected."""
        self._run(mirrors.RESUMED, lambda mirror: mirror.resume(topics))

    def delete(self) -> None:
        """Delete the mirror, its configs and its states; a later failback must copy everything."""
        self._run(mirrors.DELETED, lambda mirror: mirror.delete())

    def alter(self, configs: Mapping[str, str | None]) -> None:
        """Set configs of the mirror, which take effect at once; None restores the default."""
        self._run(mirrors.ALTERED, lambda mirror: mirror.alter(configs))

    def describe(self) -> list[MirrorRow]:
        """Describe the mirror's partitions at all live brokers of the destination; rows sorted by partition."""
        return self._run(mirrors.DESCRIBED, lambda mirror: mirror.describe())

    def reason(self) -> str:
        """Return why brokers of the destination cannot communicate with the source, and their ids; empty if all can."""
        return self._run(mirrors.DESCRIBED, lambda mirror: mirror.reason())

    def warning(self) -> str:
        """Return warnings for the operator that do not stop any partition; empty if there are none."""
        return self._run(mirrors.DESCRIBED, lambda mirror: mirror.warning())

    def topics(self) -> list[str]:
        """Return the names of all topics in this mirror, whether they exist at the destination or not."""
        return self._run(mirrors.DESCRIBED, lambda mirror: mirror.topics())

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions, at the source, of the topics in this mirror that the source has."""
        return self._run(mirrors.DESCRIBED, lambda mirror: mirror.partitions())

    def wait_for_state(
        self,
        state: MirrorState,
        partitions: Iterable[TopicPartition],
        *,
        within_s: float = WITHIN_S,
        caught_up: bool = False,
        watch: Callable[[list[MirrorRow]], None] | None = None,
    ) -> list[MirrorRow]:
        """Poll until every partition is in `state` and, with `caught_up`, has all records below the source's LSO."""
        goal = Goal.for_partitions(self.name, state, partitions, caught_up=caught_up)
        return self._run(f"mirror {{}} to {goal}", lambda mirror: mirror._wait_for(goal, within_s, watch), within_s)

    def catch_up(self, *, within_s: float = WITHIN_S) -> None:
        """Wait until the destination's whole ISR has all records below the source's last stable offset (LSO)."""
        event = "mirror {} to reach MIRRORING, caught up"
        self._run(event, lambda mirror: mirror.catch_up(within_s=within_s), within_s)

    def fail_over(self, *, within_s: float = WITHIN_S) -> list[MirrorRow]:
        """Remove every topic and wait until all partitions are STOPPED and the destination accepts writes."""
        return self._run(mirrors.FAILOVER, lambda mirror: mirror.fail_over(within_s=within_s), within_s)

    def difference(self) -> Difference | None:
        """Compare logs byte for byte, up to the source's last stable offset; return None if they are equal."""
        return self._run(mirrors.DESCRIBED, lambda mirror: mirror.difference())

    def assert_equal(self) -> None:
        """Raise AssertionError with the first difference, if there is one."""
        self._run(mirrors.DESCRIBED, lambda mirror: mirror.assert_equal())
