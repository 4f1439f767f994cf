"""A mirror between any two clusters on TCP; its methods are those of the simulator's mirror.

mirror = TcpMirror("dr", source="localhost:9092", destination="localhost:9094")
mirror.create()
mirror.add_topics(["orders"])
mirror.catch_up()
mirror.fail_over()

`AsyncMirror` is the same for programs on asyncio, over admin clients that they have opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from kmirror.admin.client import AsyncAdmin, checked_servers
from kmirror.admin.described_configs import configs_of
from kmirror.admin.leader_reader import LeaderReader, latest_offsets
from kmirror.assembly.mirror_scripts import BlockingMirror, MirrorScripts
from kmirror.assembly.mirrors import DESCRIBE_EVERY_S, WITHIN_S, Description, Difference, MirrorListing, parse_listings
from kmirror.client.admin import AdminConfigs
from kmirror.client.security import SecuritySettings
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.compaction_gap import gap
from kmirror.log.compare import compare, parting
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec, ResourceType

T = TypeVar("T")
DISABLED = (
    "Cluster Mirroring (KIP-1279) is not enabled there: no release of Kafka has it yet; in a cluster of kmirror "
    "feature mirror.version=1 turns it on (kmirror features upgrade --feature mirror.version=1, or kmirror serve "
    "--feature mirror.version=1)"
)


class HasServers(Protocol):
    """A cluster that knows its brokers' endpoints, such as a `TcpCluster`."""

    @property
    def bootstrap_servers(self) -> str: ...


async def send_mirror_request(admin: AsyncAdmin, body: Message, *, changes: bool) -> Message:
    """Send one of KIP-1279's requests and return the response; the error of a cluster without KIP-1279 gets advice.

    Raises KafkaError like `AsyncAdmin.order`.
    """
    with _with_advice():
        return await (admin.order(body) if changes else admin.ask(body))


@contextmanager
def _with_advice() -> Iterator[None]:
    """Add advice to the KafkaError of a cluster that does not serve KIP-1279."""
    try:
        yield
    except KafkaError as error:
        if error.code is ErrorCode.UNSUPPORTED_VERSION:
            raise KafkaError(error.code, f"{error}: {DISABLED}") from None
        raise


async def list_mirrors(admin: AsyncAdmin) -> list[MirrorListing]:
    """Return the mirrors whose destination is this cluster, by name; raises KafkaError if that is denied."""
    reply = await send_mirror_request(admin, ListMirrorsRequest(), changes=False)
    assert isinstance(reply, ListMirrorsResponse), "the answer to its request"
    return parse_listings(reply)


async def describe_mirrors(admin: AsyncAdmin, mirrors: Iterable[str] = ()) -> dict[str, Description]:
    """Describe some mirrors, or all, with requests to every broker; the result is by name, in order.

    Raises KafkaError UNKNOWN_MIRROR for a mirror that does not exist, and an error if it may not be described.
    """
    return await AsyncMirror("", source=None, destination=admin)._describe_with_unreported(mirrors)


class AsyncMirror(MirrorScripts):
    """`name` mirrors topics from `source` to `destination`, both open admin clients.

    If `source` is None, the source is not accessed: then `create` needs its `bootstrap.servers`, topics are added
    without their ids, and operations that compare with the source raise UsageError.
    """

    def __init__(self, name: str, *, source: AsyncAdmin | None, destination: AsyncAdmin) -> None:
        servers = None if source is None else source.servers
        super().__init__(name, servers, cluster=destination.servers, clusters=f"{servers} to {destination.servers}")
        self.source = source
        self.destination = destination

    def __repr__(self) -> str:
        source = "" if self.source is None else f"{self.source.servers} "
        return f"<AsyncMirror {self.name}: {source}to {self.destination.servers}>"

    async def topics(self) -> list[str]:
        """Return the names of all topics in this mirror, whether they exist at the destination or not."""
        return (await self._described()).topics

    async def difference(self) -> Difference | None:
        """Compare logs byte for byte, up to the source's last stable offset; return None if they are equal."""
        for tp in await self._comparable_partitions(self._timer(0)):
            if (found := await self._differs(tp)) is not None:
                return found
        return None

    def _known_source(self) -> AsyncAdmin:
        if self.source is None:
            raise UsageError(f"mirror {self.name} has no source to compare with")
        return self.source

    async def _send_change(self, request: Message) -> Message:
        return await send_mirror_request(self.destination, request, changes=True)

    async def _send_to_each(self, request: Message) -> Mapping[int, Message]:
        with _with_advice():
            answers = await self.destination.ask_each(request)
        if not answers:
            error, servers = ErrorCode.REQUEST_TIMED_OUT, self.destination.servers
            raise KafkaError(error, f"no broker of {servers} responded to DescribeMirrors: {error.name}: {error.text}")
        return answers

    async def _source_ids(self, topics: Sequence[str]) -> Mapping[str, Uuid]:
        known = {} if self.source is None else await self.source.topics(topics)
        return {name: topic.topic_id for name, topic in known.items()}

    async def _partitions(self, topics: Sequence[str], *, at_source: bool) -> list[TopicPartition]:
        known = await (self._known_source() if at_source else self.destination).topics(topics)
        return sorted(TopicPartition(name, index) for name, topic in known.items() for index in topic.leaders)

    async def _comparable_partitions(self, has_timed_out: Callable[[], bool]) -> list[TopicPartition]:
        """Return the partitions of all topics in this mirror, once the destination has all of them.

        Topics that are not described yet would be skipped. Raises KafkaError if that takes too long.
        """
        source = self._known_source()
        while True:
            mirror = await self._described()
            existing = sorted({tp.topic for tp in mirror.partitions})
            count = next((row.topic_count for row in await list_mirrors(self.destination) if row.name == self.name), 0)
            if not count:
                raise self._no_topics()
            if len(existing) >= count:
                return await source.partitions(existing)
            if has_timed_out():
                error = ErrorCode.REQUEST_TIMED_OUT
                text = f"{count - len(existing)} of the {count} topics of mirror {self.name} are not at the destination"
                hint = mirror.reason or f"does the source have {mirror.topics_without_rows}?"
                raise KafkaError(error, f"{text} yet: {hint} Those that are: {existing}")
            await asyncio.sleep(DESCRIBE_EVERY_S)

    async def _caught_up(self, partitions: Collection[TopicPartition]) -> list[TopicPartition]:
        if not partitions:
            return []
        source_offsets = await latest_offsets(self._known_source(), partitions, IsolationLevel.READ_COMMITTED)
        destination_offsets = await latest_offsets(self.destination, partitions)
        return [tp for tp, offset in source_offsets.items() if destination_offsets.get(tp) == offset]

    def _timer(self, within_s: float) -> Callable[[], bool]:
        clock = asyncio.get_running_loop().time
        until = clock() + arguments.seconds("within_s", within_s)
        return lambda: clock() >= until

    async def _sleep(self, span_s: float, waits_for: str = "") -> None:
        await asyncio.sleep(span_s)

    async def _differs(self, tp: TopicPartition) -> Difference | None:
        expected, found = LeaderReader(self._known_source(), tp), LeaderReader(self.destination, tp)
        until = await expected.offset(OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED)
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
        admins = self._known_source(), self.destination
        configs = [await configs_of(admin, ResourceType.TOPIC, tp.topic, None) for admin in admins]
        if any("compact" in each.get("cleanup.policy", "") for each in configs):  # Compaction may have removed records.
            missing = gap(*logs)
            return (
                None if missing is None else Difference(tp, missing.offset, "record", missing.expected, missing.found)
            )
        first_difference = parting(result.parted)
        return Difference(
            tp, first_difference.offset, first_difference.field, first_difference.expected, first_difference.found
        )

    @staticmethod  # The last one: above it `list` is still the type.
    async def list(cluster: AsyncAdmin) -> list[MirrorListing]:
        """Return the mirrors whose destination is `cluster`, by name; raises KafkaError if that is denied."""
        return await list_mirrors(cluster)


class TcpMirror(BlockingMirror):
    """`name` mirrors topics from `source` to `destination`, for scripts that are not asynchronous.

    Each is a `bootstrap.servers` text, or a cluster that has one. Every call opens and closes its connections, secured
    according to `source_security` and `destination_security` (`kmirror.client.security.security_of`); None is plain.
    The mirror's own configs secure the connections of the destination's brokers to the source: pass them to `create`.
    """

    def __init__(
        self,
        name: str,
        *,
        source: str | HasServers | None = None,
        destination: str | HasServers,
        configs: AdminConfigs | None = None,
        source_security: SecuritySettings | None = None,
        destination_security: SecuritySettings | None = None,
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

    def _run(
        self, event: str, call: Callable[[MirrorScripts], Coroutine[Any, Any, T]], within_s: float = WITHIN_S
    ) -> T:
        async def with_admins() -> T:
            async with AsyncAdmin(self.destination, self._configs, security=self._destination_security) as destination:
                if self.source is None:
                    return await call(AsyncMirror(self.name, source=None, destination=destination))
                async with AsyncAdmin(self.source, self._configs, security=self._source_security) as source:
                    return await call(AsyncMirror(self.name, source=source, destination=destination))

        return run_blocking(with_admins())

    @staticmethod  # The last one: above it `list` is still the type.
    def list(
        cluster: str | HasServers, configs: AdminConfigs | None = None, *, security: SecuritySettings | None = None
    ) -> list[MirrorListing]:
        """Return the mirrors whose destination is `cluster`, by name; raises KafkaError if that is denied."""

        async def list_all() -> list[MirrorListing]:
            async with AsyncAdmin(_servers_of(cluster), configs, security=security) as admin:
                return await list_mirrors(admin)

        return run_blocking(list_all())


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own and return its result; UsageError if this thread's loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError("this would block the running event loop: use AsyncMirror and AsyncAdmin")


def _servers_of(cluster: str | HasServers) -> str:
    return checked_servers(cluster if isinstance(cluster, str) else cluster.bootstrap_servers)
