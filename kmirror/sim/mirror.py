"""A mirror between two simulated clusters, as scripts and tests hold it: requests, answers, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.add_topics_to_mirror_request import TopicData as AddedTopic
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import TopicData as RemovedTopic
from kmirror.protocol.gen.remove_topics_from_mirror_response import RemoveTopicsFromMirrorResponse
from kmirror.sim.checkers import Difference, mirror_agrees
from kmirror.sim.cluster import Cluster
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType


@dataclass(frozen=True, slots=True)
class MirrorRow:
    """One partition's line of DescribeMirrors; -1 stands for what is not known."""

    tp: TopicPartition
    source_offset: int
    destination_offset: int
    lag: int
    state: MirrorState
    last_mirrored_epoch: int
    reason: str = ""
    """Why the partition waits or failed (D38)."""


class Mirror:
    """`name` mirrors topics from `source` to `destination`; every method speaks to brokers of the destination."""

    def __init__(self, name: str, *, source: Cluster, destination: Cluster) -> None:
        """Raise UsageError for two clusters that are the same, or of two simulations: no line lies between those."""
        arguments.text("name", name)
        for which, cluster in (("source", source), ("destination", destination)):
            arguments.instance(which, cluster, Cluster)
        if source is destination:
            raise UsageError(f"a mirror needs two clusters, and {source.name} is both source and destination")
        if source.simulation is not destination.simulation:
            text = f"{source.name} and {destination.name} are clusters of two simulations"
            raise UsageError(f"{text}: make both with the same Simulation")
        self.name = name
        self.source = source
        self.destination = destination

    def __repr__(self) -> str:
        return f"<Mirror {self.name}: {self.source.name} to {self.destination.name}>"

    def create(self, configs: Mapping[str, str] | None = None) -> None:
        """Create the mirror; KafkaError if the cluster refuses."""
        set_here = {} if configs is None else arguments.texts("configs", configs)
        values = {"bootstrap.servers": self.source.bootstrap_servers, **set_here}
        request = CreateMirrorRequest(
            mirror_name=self.name,
            config=[MirrorConfig(name=name, value=value) for name, value in values.items()],
        )
        reply = self.destination.order(request)
        assert isinstance(reply, CreateMirrorResponse)
        self._check(reply.error_code, reply.error_message, f"create mirror {self.name}")

    def add_topics(self, topics: Iterable[str]) -> None:
        """Add topics, naming their ids if the source can be asked for them; KafkaError if one is refused."""
        names = list(topics)
        request = AddTopicsToMirrorRequest(
            mirror_name=self.name,
            topics=[AddedTopic(topic_name=name, topic_id=self._source_id(name)) for name in names],
        )
        reply = self.destination.order(request)
        assert isinstance(reply, AddTopicsToMirrorResponse)
        self._check(reply.error_code, reply.error_message, f"add topics to mirror {self.name}")
        for row in reply.topics:
            self._check(row.error_code, None, f"add topic {row.name} to mirror {self.name}")

    def remove_topics(self, topics: Iterable[str]) -> None:
        """Remove topics: failover begins; KafkaError if one is refused."""
        request = RemoveTopicsFromMirrorRequest(
            mirror_name=self.name, topics=[RemovedTopic(topic_name=name) for name in topics]
        )
        reply = self.destination.order(request)
        assert isinstance(reply, RemoveTopicsFromMirrorResponse)
        self._check(reply.error_code, reply.error_message, f"remove topics from mirror {self.name}")
        for row in reply.topics:
            self._check(row.error_code, None, f"remove topic {row.name} from mirror {self.name}")

    def describe(self) -> list[MirrorRow]:
        """Ask every living broker of the destination what it leads; rows sorted by partition."""
        request = DescribeMirrorsRequest(mirror_names=[self.name])
        rows: dict[TopicPartition, MirrorRow] = {}
        for endpoint in self.destination.endpoints():
            reply = self.destination.client.call(endpoint, request)
            if not isinstance(reply, DescribeMirrorsResponse):
                continue
            for mirror in reply.mirrors:
                for topic in mirror.topics:
                    for p in topic.partitions:
                        tp = TopicPartition(topic.topic_name, p.partition_index)
                        rows[tp] = MirrorRow(
                            tp,
                            p.source_offset,
                            p.destination_offset,
                            p.lag,
                            MirrorState[p.state],
                            p.last_mirror_epoch,
                            p.reason,
                        )
        return [rows[tp] for tp in sorted(rows)]

    def catch_up(self, *, within_s: float = 120) -> None:
        """Run until the destination has, on its whole ISR, all that the source has decided.

        DescribeMirrors tells the source's offset as of the last fetch; this looks at the source itself. UsageError if
        there is nothing that could catch up.
        """
        if not self.partitions():
            names = ", ".join(self.topics())
            why = f"cluster {self.source.name} has none of its topics: {names}" if names else "add_topics comes first"
            raise UsageError(f"mirror {self.name} has no partitions to catch up with: {why}")
        self.wait_for_state(MirrorState.MIRRORING, self.partitions(), within_s=within_s, caught_up=True)

    def fail_over(self, *, within_s: float = 120) -> list[MirrorRow]:
        """Remove every topic and run until all partitions are STOPPED: the destination takes writes.

        Nothing but the destination need be alive. A topic that never came to be there is removed as well. KafkaError if
        the mirror was not created, UsageError if it has no topics.
        """
        topics = self.topics()
        self.remove_topics(topics)
        if not topics:
            raise UsageError(f"mirror {self.name} has no topics to fail over: add_topics comes first")
        return self.wait_for_state(MirrorState.STOPPED, self.destination.partitions(topics), within_s=within_s)

    def difference(self) -> Difference | None:
        """Compare every replica of the destination with the source, byte for byte, up to what is decided there."""
        return mirror_agrees(self.source, self.destination, self.partitions())[0]

    def assert_equal(self) -> None:
        """Raise AssertionError with the first difference, if there is one, and the moment of the run."""
        difference = self.difference()
        if difference is not None:
            what = f"mirror {self.name} from {self.source.name} to {self.destination.name}"
            raise AssertionError(f"{what}: {difference} ({self.destination.simulation.world.moment})")

    def topics(self) -> list[str]:
        """Return the names of all topics in this mirror, whether they exist at the destination or not."""
        configs = self.destination.image.configs
        return sorted(
            name
            for kind, name in configs
            if kind == ResourceType.TOPIC
            and (assignment := parse(configs[kind, name].get(MIRROR_NAME, ""))) is not None
            and assignment.mirror == self.name
        )

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions, at the source, of all topics in this mirror."""
        return self.source.partitions(self.topics())

    def _has_caught_up(self, tp: TopicPartition) -> bool:
        source, destination = self.source.leader(tp), self.destination.leader(tp)
        return (
            source is not None
            and destination is not None
            and destination.log.high_watermark == source.log.last_stable_offset
        )

    def wait_for_state(
        self,
        state: MirrorState,
        partitions: Iterable[TopicPartition],
        *,
        within_s: float = 120,
        caught_up: bool = False,
        watch: Callable[[list[MirrorRow]], None] | None = None,
    ) -> list[MirrorRow]:
        """Describe again and again until every partition is in `state` and, if asked, has all that is decided.

        The lag that DescribeMirrors tells counts what lies above open transactions as well (D22), and is not 0 then.
        """
        arguments.member("state", state, MirrorState)
        arguments.seconds("within_s", within_s)
        if watch is not None:
            arguments.callback("watch", watch)
        wanted = set(arguments.partitions(partitions))
        simulation = self.destination.simulation
        deadline = simulation.world.now + round(within_s * SECOND)
        while True:
            rows = self.describe()
            if watch is not None:
                watch(rows)
            # A lag is known once a fetch was answered: before that two logs may end alike and differ.
            ready = {
                row.tp
                for row in rows
                if row.state is state and (not caught_up or (row.lag >= 0 and self._has_caught_up(row.tp)))
            }
            if wanted <= ready:
                return rows
            if simulation.world.now > deadline:
                raise simulation.failure(
                    f"mirror {self.name} did not come to {state.name}: {self.explain(sorted(wanted - ready), rows)}"
                )
            simulation.run_for(span_s=0.5)

    def explain(self, partitions: list[TopicPartition], rows: list[MirrorRow]) -> str:
        """Say where some partitions are and what they wait for."""
        by_tp = {row.tp: row for row in rows}
        parts = []
        for tp in partitions[:3]:
            row = by_tp.get(tp)
            where = "no leader reports it" if row is None else f"{row.state.name}, lag {row.lag}"
            reason = f": {row.reason}" if row is not None and row.reason else ""
            parts.append(f"{tp} ({where}{reason})")
        more = f" and {len(partitions) - 3} more" if len(partitions) > 3 else ""
        return ", ".join(parts) + more

    def _source_id(self, topic: str) -> Uuid:
        known = self.source.image.topics.get(topic)
        return Uuid.ZERO if known is None else known.topic_id

    def _check(self, code: int, message: str | None, what: str) -> None:
        if code:
            error = ErrorCode(code)
            text = f"cannot {what}: {error.name}: {message or error.text}"
            raise self.destination.simulation.refusal(error, text)
