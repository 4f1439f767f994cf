"""A mirror between two clusters that are reached over TCP, whoever serves them; the words are those of the simulator's.

mirror = TcpMirror("dr", source="localhost:9092", destination="localhost:9094")
mirror.create()
mirror.add_topics(["orders"])
mirror.catch_up()
mirror.fail_over()

`AsyncMirror` is the same for programs on asyncio, over admin clients that they have opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from kmirror.admin.client import AsyncAdmin, TopicInfo, checked_servers
from kmirror.admin.described_configs import configs_of
from kmirror.admin.leader_reader import LeaderReader, latest_offsets
from kmirror.assembly.mirrors import (
    DESCRIBE_EVERY_S,
    WITHIN_S,
    Description,
    Difference,
    Goal,
    MirrorListing,
    MirrorRow,
    adding_topics,
    altering,
    creating,
    deleting,
    explained,
    listings_in,
    pause_s,
    pausing_topics,
    refused_order,
    removing_topics,
    resuming_topics,
)
from kmirror.client.admin import AdminConfigs
from kmirror.client.remote_cluster import code_of
from kmirror.client.security import Security
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import as_names
from kmirror.kernel.uuid import Uuid
from kmirror.log.compaction_gap import gap
from kmirror.log.compare import compare, parting
from kmirror.mirror.configs import BOOTSTRAP_SERVERS
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec, ResourceType

T = TypeVar("T")
DISABLED = (
    "Cluster Mirroring (KIP-1279) is not on there: Kafka has no release with it yet, and in a cluster of kmirror "
    "feature mirror.version=1 turns it on (kmirror features upgrade --feature mirror.version=1, or kmirror serve "
    "--feature mirror.version=1)"
)


class HasServers(Protocol):
    """A cluster that knows where its brokers listen, such as a `TcpCluster`."""

    @property
    def bootstrap_servers(self) -> str: ...


async def asked_of_mirrors(admin: AsyncAdmin, body: Message, *, changes: bool) -> Message:
    """Return the answer to one of KIP-1279's requests, in other words where the cluster does not serve them.

    KafkaError as of `AsyncAdmin.order`.
    """
    with _telling_if_disabled():
        return await (admin.order(body) if changes else admin.ask(body))


@contextmanager
def _telling_if_disabled() -> Iterator[None]:
    """Add what to do to the KafkaError of a cluster that does not serve KIP-1279."""
    try:
        yield
    except KafkaError as error:
        if error.code is ErrorCode.UNSUPPORTED_VERSION:
            raise KafkaError(error.code, f"{error}: {DISABLED}") from None
        raise


async def list_mirrors(admin: AsyncAdmin) -> list[MirrorListing]:
    """Return the mirrors of which a cluster is the destination, by name; KafkaError if that is refused."""
    reply = await asked_of_mirrors(admin, ListMirrorsRequest(), changes=False)
    assert isinstance(reply, ListMirrorsResponse), "the answer to its request"
    if reply.error_code:
        error = code_of(reply.error_code)
        raise KafkaError(error, f"cannot list mirrors: {error.name}: {reply.error_message or error.text}")
    return listings_in(reply)


async def describe_mirrors(admin: AsyncAdmin, mirrors: Iterable[str] = ()) -> dict[str, Description]:
    """Ask every broker what it leads of some mirrors, or of all; by name, in order.

    KafkaError UNKNOWN_MIRROR for one that is not there, and if it may not be described.
    """
    request = DescribeMirrorsRequest(mirror_names=sorted(mirrors))
    found = await _described_by_each(admin, request)
    if any(description.refusal is ErrorCode.UNKNOWN_MIRROR for description in found.values()):
        await asyncio.sleep(DESCRIBE_EVERY_S)
        found = await _described_by_each(admin, request)
    for name, description in found.items():
        if why := description.refusal:
            raise KafkaError(why, f"cannot describe mirror {name}: {why.name}: {why.text}")
    return found


async def _described_by_each(admin: AsyncAdmin, request: DescribeMirrorsRequest) -> dict[str, Description]:
    with _telling_if_disabled():
        answers = await admin.ask_each(request)
    if not answers:
        late = ErrorCode.REQUEST_TIMED_OUT
        raise KafkaError(late, f"no broker of {admin.servers} answered DescribeMirrors: {late.name}: {late.text}")
    found: dict[str, Description] = {}
    for broker_id, reply in answers.items():
        assert isinstance(reply, DescribeMirrorsResponse), "the answer to its request"
        for mirror in reply.mirrors:
            found.setdefault(mirror.mirror_name, Description()).add(broker_id, mirror)
    return dict(sorted(found.items()))


class AsyncMirror:
    """`name` mirrors topics from `source` to `destination`, both of them admin clients that are open.

    Where `source` is None, nothing of the source is looked at: then `create` needs its `bootstrap.servers`, topics are
    added without their ids, and what compares with the source is a UsageError.
    """

    def __init__(self, name: str, *, source: AsyncAdmin | None, destination: AsyncAdmin) -> None:
        self.name = arguments.text("name", name)
        self.source = source
        self.destination = destination

    def __repr__(self) -> str:
        source = "" if self.source is None else f"{self.source.servers} "
        return f"<AsyncMirror {self.name}: {source}to {self.destination.servers}>"

    async def create(self, configs: Mapping[str, str] | None = None) -> None:
        """Create the mirror; KafkaError if the cluster refuses."""
        set_here = {} if configs is None else arguments.configs(configs)
        if BOOTSTRAP_SERVERS not in set_here and self.source is None:
            raise UsageError(f"mirror {self.name}: configs need {BOOTSTRAP_SERVERS}, for no source is named")
        servers = "" if self.source is None else self.source.servers
        await self._change(creating(self.name, servers, set_here))

    async def add_topics(self, topics: Iterable[str]) -> None:
        """Add topics, naming their ids if the source has them; KafkaError if one is refused.

        A topic that the source does not have yet is added as well, as by KIP-1279: it is mirrored once it is there.
        """
        names = as_names(topics)
        known = {} if self.source is None else await self.source.topics(names)
        ids = {name: known[name].topic_id if name in known else Uuid.ZERO for name in names}
        await self._change(adding_topics(self.name, ids))

    async def remove_topics(self, topics: Iterable[str]) -> None:
        """Remove topics: failover begins; KafkaError if one is refused."""
        request = removing_topics(self.name, as_names(topics))
        await self._change(request)

    async def pause(self, topics: Iterable[str]) -> None:
        """Pause topics: they stay read-only, and nothing is fetched until `resume`; KafkaError if one is refused.

        It is decided then; `wait_for_state` tells when the partitions are PAUSED.
        """
        await self._change(pausing_topics(self.name, as_names(topics)))

    async def resume(self, topics: Iterable[str]) -> None:
        """Resume paused topics, which go on where their logs end, without a cut; KafkaError if one is refused."""
        await self._change(resuming_topics(self.name, as_names(topics)))

    async def delete(self) -> None:
        """Delete the mirror: its configs and states, and with them the way to fail back without copying everything.

        KafkaError MIRROR_NOT_EMPTY, with the partitions in its way, unless every topic was removed and is STOPPED.
        """
        await self._change(deleting(self.name))

    async def alter(self, configs: Mapping[str, str | None]) -> None:
        """Set configs of the mirror, which take effect at once; None goes back to the default.

        KafkaError if one is refused; then nothing is altered.
        """
        await self._change(altering(self.name, configs))

    async def describe(self) -> list[MirrorRow]:
        """Ask every living broker of the destination what it leads; rows sorted by partition.

        KafkaError UNKNOWN_MIRROR if there is no such mirror.
        """
        return (await self._described()).rows

    async def reason(self) -> str:
        """Return why brokers of the destination cannot speak to the source, and which; empty if all can.

        KafkaError UNKNOWN_MIRROR if there is no such mirror.
        """
        return (await self._described()).reason

    async def warning(self) -> str:
        """Return what an operator should know though no partition waits for it; empty if there is nothing.

        KafkaError UNKNOWN_MIRROR if there is no such mirror.
        """
        return (await self._described()).warning

    async def topics(self) -> list[str]:
        """Return the names of all topics in this mirror, whether they exist at the destination or not.

        Removed ones are among them, unless they never came to be there.
        """
        return (await self._described()).topics

    async def partitions(self) -> list[TopicPartition]:
        """Return the partitions, at the source, of those topics in this mirror that the source has."""
        source = self._known_source()
        return _partitions_of(await source.topics(await self.topics()))

    async def wait_for_state(
        self,
        state: MirrorState,
        partitions: Iterable[TopicPartition],
        *,
        within_s: float = WITHIN_S,
        caught_up: bool = False,
        watch: Callable[[list[MirrorRow]], None] | None = None,
    ) -> list[MirrorRow]:
        """Describe again and again until every partition is in `state` and, if asked, has all that is decided.

        The lag that DescribeMirrors tells counts what lies above open transactions as well (D22), and is not 0 then.
        UsageError if there are no partitions to wait for; KafkaError REQUEST_TIMED_OUT, with where the partitions are
        and why, after `within_s` seconds.
        """
        arguments.member("state", state, MirrorState)
        arguments.seconds("within_s", within_s)
        if watch is not None:
            arguments.callback("watch", watch)
        if not (wanted := tuple(dict.fromkeys(arguments.partitions(partitions)))):
            raise UsageError(f"mirror {self.name}: name at least one partition to wait for")
        goal = Goal(state, wanted, caught_up=caught_up)
        until = asyncio.get_running_loop().time() + within_s
        while True:
            rows = await self.describe()
            if watch is not None:
                watch(rows)
            left = await self._not_there(goal, rows)
            if not left:
                return rows
            if asyncio.get_running_loop().time() >= until:
                what = f"mirror {self.name} did not come to {state.name}{', caught up' * caught_up}"
                text = f"{what} within {within_s:g} s; it waits for {explained(left, rows)}"
                raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, text)
            await asyncio.sleep(pause_s(rows))

    async def catch_up(self, *, within_s: float = WITHIN_S) -> None:
        """Wait until the destination has, on its whole ISR, all that the source has decided.

        DescribeMirrors tells the source's offset as of the last fetch; this asks the source itself. UsageError if the
        mirror has no topics; KafkaError if the source lacks one, and as of `wait_for_state`.
        """
        arguments.seconds("within_s", within_s)
        clock = asyncio.get_running_loop()
        until = clock.time() + within_s
        wanted = await self._to_compare(until)
        left_s = max(0.0, until - clock.time())
        await self.wait_for_state(MirrorState.MIRRORING, wanted, within_s=left_s, caught_up=True)

    async def fail_over(self, *, within_s: float = WITHIN_S) -> list[MirrorRow]:
        """Remove every topic and wait until all partitions are STOPPED: the destination takes writes.

        Nothing but the destination need be alive. A topic that never came to be there is removed as well. UsageError
        if the mirror has no topics; KafkaError as of `remove_topics` and `wait_for_state`.
        """
        topics = await self._some_topics()
        await self.remove_topics(topics)
        there = _partitions_of(await self.destination.topics(topics))
        if not there:
            return await self.describe()
        return await self.wait_for_state(MirrorState.STOPPED, there, within_s=within_s)

    async def difference(self) -> Difference | None:
        """Compare logs byte for byte, up to what is decided at the source; None if they are equal.

        Of a compacted topic records are compared where bytes differ: each side may lack what its cleaner took (D46).
        Those of the leaders are compared. UsageError if the mirror has no topics, KafkaError if a topic is not on both
        sides or a log cannot be read.
        """
        for tp in await self._to_compare(asyncio.get_running_loop().time()):
            found = await self._differs(tp)
            if found is not None:
                return found
        return None

    async def assert_equal(self) -> None:
        """Raise AssertionError with the first difference, if there is one."""
        difference = await self.difference()
        if difference is not None:
            what = f"mirror {self.name} from {self._known_source().servers} to {self.destination.servers}"
            raise AssertionError(f"{what}: {difference}")

    # -- how it is known ----------------------------------------------------------------------

    async def _change(self, request: Message) -> None:
        """Have the destination carry out an order; KafkaError if all of it is refused, or one topic."""
        reply = await asked_of_mirrors(self.destination, request, changes=True)
        refused = refused_order(self.name, request, reply)
        if refused is not None:
            raise KafkaError(*refused)

    def _known_source(self) -> AsyncAdmin:
        if self.source is None:
            raise UsageError(f"mirror {self.name}: name the source to compare with it")
        return self.source

    async def _described(self) -> Description:
        return (await describe_mirrors(self.destination, [self.name])).get(self.name, Description())

    async def _some_topics(self) -> list[str]:
        topics = await self.topics()
        if not topics:
            raise UsageError(f"mirror {self.name} of {self.destination.servers} has no topics: add some first")
        return topics

    async def _to_compare(self, until: float) -> list[TopicPartition]:
        """Return the partitions of all topics in this mirror, once the destination has all of them.

        What is not described yet would be passed over. KafkaError if that takes longer than `until`, by the loop's
        clock.
        """
        source, clock = self._known_source(), asyncio.get_running_loop()
        while True:
            mirror = await self._described()
            there = sorted({tp.topic for tp in mirror.partitions})
            count = next((row.topic_count for row in await list_mirrors(self.destination) if row.name == self.name), 0)
            if not count:
                raise UsageError(f"mirror {self.name} of {self.destination.servers} has no topics: add some first")
            if len(there) >= count:
                return await source.partitions(there)
            if clock.time() >= until:
                error = ErrorCode.REQUEST_TIMED_OUT
                text = f"{count - len(there)} of the {count} topics of mirror {self.name} are not at the destination"
                why = mirror.reason or f"does the source have {mirror.topics_without_rows}?"
                raise KafkaError(error, f"{text} yet: {why} Those that are: {there}")
            await asyncio.sleep(DESCRIBE_EVERY_S)

    async def _not_there(self, goal: Goal, rows: list[MirrorRow]) -> list[TopicPartition]:
        wanted = set(goal.partitions)
        # A lag is known once a fetch was answered: before that two logs may end alike and differ.
        there = {row.tp for row in rows if row.state is goal.state and (not goal.caught_up or row.lag >= 0)} & wanted
        if goal.caught_up and there:
            there = await self._caught_up(there)
        return [tp for tp in sorted(wanted) if tp not in there]

    async def _caught_up(self, partitions: set[TopicPartition]) -> set[TopicPartition]:
        """Return those of which the destination has, on its whole ISR, all that the source has decided."""
        decided = await latest_offsets(self._known_source(), partitions, IsolationLevel.READ_COMMITTED)
        ours = await latest_offsets(self.destination, partitions)
        return {tp for tp, offset in decided.items() if ours.get(tp) == offset}

    async def _decided(self, tp: TopicPartition) -> int:
        reader = LeaderReader(self._known_source(), tp)
        return await reader.offset(OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED)

    async def _is_compacted(self, topic: str) -> bool:
        """Return whether the cleaner may have taken records of a topic, in either cluster."""
        for admin in (self._known_source(), self.destination):
            configs = await configs_of(admin, ResourceType.TOPIC, topic, None)
            if "compact" in configs.get("cleanup.policy", ""):
                return True
        return False

    async def _differs(self, tp: TopicPartition) -> Difference | None:
        expected, found = LeaderReader(self._known_source(), tp), LeaderReader(self.destination, tp)
        until = await self._decided(tp)
        starts = [await reader.offset(OffsetSpec.EARLIEST) for reader in (expected, found)]
        if starts[0] != starts[1]:
            return Difference(tp, until, "log start offset", *starts)
        end = await found.offset(OffsetSpec.LATEST)
        if end != until:
            return Difference(tp, until, "log end offset", until, end)
        logs = [[batch async for batch in reader.batches(starts[0], until)] for reader in (expected, found)]
        result = compare(*logs)
        if result.parted is None:
            return None
        if await self._is_compacted(tp.topic):
            lack = gap(*logs)
            return None if lack is None else Difference(tp, lack.offset, "record", lack.expected, lack.found)
        where = parting(result.parted)
        return Difference(tp, where.offset, where.field, where.expected, where.found)

    @staticmethod  # The last one: above it `list` is still the type.
    async def list(cluster: AsyncAdmin) -> list[MirrorListing]:
        """Return the mirrors of which `cluster` is the destination, by name; KafkaError if that is refused."""
        return await list_mirrors(cluster)


class TcpMirror:
    """`name` mirrors topics from `source` to `destination`, for scripts that are not asynchronous.

    Each is a `bootstrap.servers` text, or a cluster that has one. Every call opens its connections and closes them,
    secured as `source_security` and `destination_security` say (`kmirror.client.security.security_of`); None is plain.
    How the destination's brokers connect to the source is said by the mirror's own configs: give them to `create`.
    """

    def __init__(
        self,
        name: str,
        *,
        source: str | HasServers | None = None,
        destination: str | HasServers,
        configs: AdminConfigs | None = None,
        source_security: Security | None = None,
        destination_security: Security | None = None,
    ) -> None:
        self.name = arguments.text("name", name)
        self.source = None if source is None else _servers_of(source)
        self.destination = _servers_of(destination)
        self._configs = configs
        self._source_security = source_security
        self._destination_security = destination_security

    def __repr__(self) -> str:
        source = "" if self.source is None else f"{self.source} "
        return f"<TcpMirror {self.name}: {source}to {self.destination}>"

    def create(self, configs: Mapping[str, str] | None = None) -> None:
        """Create the mirror; KafkaError if the cluster refuses."""
        self._run(lambda mirror: mirror.create(configs))

    def add_topics(self, topics: Iterable[str]) -> None:
        """Add topics, naming their ids if the source has them; KafkaError if one is refused.

        More in `AsyncMirror.add_topics`.
        """
        self._run(lambda mirror: mirror.add_topics(topics))

    def remove_topics(self, topics: Iterable[str]) -> None:
        """Remove topics: failover begins; KafkaError if one is refused."""
        self._run(lambda mirror: mirror.remove_topics(topics))

    def pause(self, topics: Iterable[str]) -> None:
        """Pause topics: they stay read-only, and nothing is fetched until `resume`; KafkaError if one is refused.

        More in `AsyncMirror.pause`.
        """
        self._run(lambda mirror: mirror.pause(topics))

    def resume(self, topics: Iterable[str]) -> None:
        """Resume paused topics, which go on where their logs end, without a cut; KafkaError if one is refused."""
        self._run(lambda mirror: mirror.resume(topics))

    def delete(self) -> None:
        """Delete the mirror: its configs and states, and with them the way to fail back without copying everything.

        More in `AsyncMirror.delete`.
        """
        self._run(lambda mirror: mirror.delete())

    def alter(self, configs: Mapping[str, str | None]) -> None:
        """Set configs of the mirror, which take effect at once; None goes back to the default.

        More in `AsyncMirror.alter`.
        """
        self._run(lambda mirror: mirror.alter(configs))

    def describe(self) -> list[MirrorRow]:
        """Ask every living broker of the destination what it leads; rows sorted by partition.

        More in `AsyncMirror.describe`.
        """
        return self._run(lambda mirror: mirror.describe())

    def reason(self) -> str:
        """Return why brokers of the destination cannot speak to the source, and which; empty if all can.

        More in `AsyncMirror.reason`.
        """
        return self._run(lambda mirror: mirror.reason())

    def warning(self) -> str:
        """Return what an operator should know though no partition waits for it; empty if there is nothing.

        More in `AsyncMirror.warning`.
        """
        return self._run(lambda mirror: mirror.warning())

    def topics(self) -> list[str]:
        """Return the names of all topics in this mirror, whether they exist at the destination or not.

        More in `AsyncMirror.topics`.
        """
        return self._run(lambda mirror: mirror.topics())

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions, at the source, of those topics in this mirror that the source has."""
        return self._run(lambda mirror: mirror.partitions())

    def wait_for_state(
        self,
        state: MirrorState,
        partitions: Iterable[TopicPartition],
        *,
        within_s: float = WITHIN_S,
        caught_up: bool = False,
        watch: Callable[[list[MirrorRow]], None] | None = None,
    ) -> list[MirrorRow]:
        """Describe again and again until every partition is in `state` and, if asked, has all that is decided.

        More in `AsyncMirror.wait_for_state`.
        """
        return self._run(
            lambda mirror: mirror.wait_for_state(state, partitions, within_s=within_s, caught_up=caught_up, watch=watch)
        )

    def catch_up(self, *, within_s: float = WITHIN_S) -> None:
        """Wait until the destination has, on its whole ISR, all that the source has decided.

        More in `AsyncMirror.catch_up`.
        """
        self._run(lambda mirror: mirror.catch_up(within_s=within_s))

    def fail_over(self, *, within_s: float = WITHIN_S) -> list[MirrorRow]:
        """Remove every topic and wait until all partitions are STOPPED: the destination takes writes.

        More in `AsyncMirror.fail_over`.
        """
        return self._run(lambda mirror: mirror.fail_over(within_s=within_s))

    def difference(self) -> Difference | None:
        """Compare logs byte for byte, up to what is decided at the source; None if they are equal.

        Of a compacted topic records are compared where bytes differ: each side may lack what its cleaner took (D46).
        More in `AsyncMirror.difference`.
        """
        return self._run(lambda mirror: mirror.difference())

    def assert_equal(self) -> None:
        """Raise AssertionError with the first difference, if there is one."""
        self._run(lambda mirror: mirror.assert_equal())

    def _run(self, call: Callable[[AsyncMirror], Coroutine[Any, Any, T]]) -> T:
        async def with_admins() -> T:
            async with AsyncAdmin(self.destination, self._configs, security=self._destination_security) as destination:
                if self.source is None:
                    return await call(AsyncMirror(self.name, source=None, destination=destination))
                async with AsyncAdmin(self.source, self._configs, security=self._source_security) as source:
                    return await call(AsyncMirror(self.name, source=source, destination=destination))

        return run_to_end(with_admins())

    @staticmethod  # The last one: above it `list` is still the type.
    def list(
        cluster: str | HasServers, configs: AdminConfigs | None = None, *, security: Security | None = None
    ) -> list[MirrorListing]:
        """Return the mirrors of which `cluster` is the destination, by name; KafkaError if that is refused."""

        async def listed() -> list[MirrorListing]:
            async with AsyncAdmin(_servers_of(cluster), configs, security=security) as admin:
                return await list_mirrors(admin)

        return run_to_end(listed())


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own and return its outcome; UsageError on a thread whose loop runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError("this would block the event loop that runs here: use AsyncMirror and AsyncAdmin")


def _partitions_of(topics: Mapping[str, TopicInfo]) -> list[TopicPartition]:
    return sorted(TopicPartition(name, index) for name, topic in topics.items() for index in topic.leaders)


def _servers_of(cluster: str | HasServers) -> str:
    return checked_servers(cluster if isinstance(cluster, str) else cluster.bootstrap_servers)
