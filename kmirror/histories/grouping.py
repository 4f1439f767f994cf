"""Applications of consumer groups: members that come and go, and members that write their results to a topic.

An application has several members, each a process. A member joins, reads from the committed offsets, commits, and after
a while leaves, stops without LeaveGroup, or restarts. Another client fetches the group's offsets from every cluster,
and an operator deletes some offsets, or the group, while it has no member.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.histories.consuming import Consumer
from kmirror.histories.group_requests import GroupClient
from kmirror.histories.membership import REBALANCE_TIMEOUT_MS, HeartbeatResult, Member
from kmirror.histories.mixed_commits import OPTION, commit_mixed
from kmirror.histories.positions import Position
from kmirror.histories.producing import Application
from kmirror.histories.scripts import Script, Sleep
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.error_codes import ErrorCode

STAY_MS = (6_000, 16_000)
"""Time for which a process stays a member."""
AWAY_MS = (300, 4_000)
FETCH_OFFSETS_MS = 1_500
RETRY_MS = 250
BACK_MAX = 6
"""Largest number of offsets by which a member goes back when it commits an older one on purpose."""
PROTOCOLS = ("range", "roundrobin")


class GroupApplication:
    """An application in a group; `is_closed` keeps its members away."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.group = str(application.plan.options["group"])
        self.is_closed = False

    def scripts(self) -> list[tuple[str, Script[None]]]:
        """Return the processes of the plan's client, by name."""
        options = self.application.plan.options
        names = [f"{self.application.plan.name}-{n}" for n in range(int(options.get("members", 2)))]
        # These three run until the history ends; no script waits for them.
        self.application.scene.scripts.start(f"{self.application.plan.name}-looks", self._fetch_offsets())
        if options.get(OPTION, False):
            self.application.scene.scripts.start(
                f"{self.application.plan.name}-both", commit_mixed(self.application, self.group)
            )
        if options.get("deletes", False):
            self.application.scene.scripts.start(f"{self.application.plan.name}-operator", self._delete())
        return [(name, self.process(name)) for name in names]

    def process(self, name: str) -> Script[None]:
        """Return the script of one process."""
        return Process(self, name).run()

    def _fetch_offsets(self) -> Script[None]:
        """Fetch the group's offsets from every cluster, one after the other."""
        application = self.application
        requests = GroupClient(application, self.group, f"{application.plan.name}-looks")
        while application.scene.reading:
            for cluster in application.scene.clusters:
                yield from requests.offsets(cluster, stable=application.rng.chance(1, 2))
            yield Sleep(FETCH_OFFSETS_MS)

    def _delete(self) -> Script[None]:
        """Let all members leave from time to time, and delete the group or one of its offsets."""
        application = self.application
        requests = GroupClient(application, self.group, f"{application.plan.name}-operator")
        while application.is_writing():
            yield Sleep(application.rng.between(8_000, 16_000))
            self.is_closed = True
            yield Sleep(3_000)
            partitions = application.partitions()
            if application.is_writing() and partitions:
                tp = application.rng.choice(partitions) if application.rng.chance(1, 2) else None
                yield from requests.delete(application.cluster, tp)
            self.is_closed = False


class Process(Consumer):
    """A member that reads, and commits its positions."""

    def __init__(self, app: GroupApplication, name: str, *, committed_only: bool = False) -> None:
        super().__init__(app.application, committed_only=committed_only)
        self.app = app
        self.name = name
        self.rng = app.application.scene.rng(f"member {name}")
        self.requests = GroupClient(app.application, app.group, name)
        options = app.application.plan.options
        protocols = list(PROTOCOLS)
        self.rng.shuffle(protocols)
        instance = name if options.get("static", False) else ""
        self.session_ms = int(options.get("session_ms", 3_000))
        rebalance_ms = int(options.get("rebalance_ms", REBALANCE_TIMEOUT_MS))
        self.member = Member(self.requests, instance, self.session_ms, protocols, rebalance_ms)
        self._committed_offsets: dict[tuple[str, TopicPartition], int] = {}
        """Last committed offset by cluster and partition."""

    def run(self) -> Script[None]:
        """Join again and again until the history ends."""
        while self.is_running():
            cluster = self.application.cluster
            joined = not self.app.is_closed and (yield from self.member.join(cluster))
            if joined:
                yield from self._stay(cluster)
            yield Sleep(self.rng.between(*AWAY_MS) if self.application.is_writing() else RETRY_MS)

    def is_running(self) -> bool:
        """Return whether the process continues: a reader does until the end."""
        return self.application.scene.reading

    def _may_stay(self, cluster: str) -> bool:
        return self.is_running() and self.application.cluster == cluster and not self.app.is_closed

    def _stay(self, cluster: str) -> Script[None]:
        """Stay a member for any number of generations; then leave, stop without LeaveGroup, or restart."""
        scene = self.application.scene
        until: Instant = scene.now + self.rng.between(*STAY_MS) * MILLISECOND
        self.positions.clear()
        while self._may_stay(cluster) and (scene.now < until or not scene.writing):
            beat = yield from self.member.send_heartbeat(cluster)
            if beat is HeartbeatResult.REJOIN or self._has_unassigned_partitions():
                joined = yield from self.member.join(cluster)
                if not joined:
                    return
                self.positions.clear()
                continue
            known = yield from self._begin(cluster)
            if known:
                yield from self.work(cluster)
            yield self.application.pause()
        yield from self._end_membership(cluster)

    def _end_membership(self, cluster: str) -> Script[None]:
        if self.member.instance and self._may_stay(cluster):
            self.member.forget()  # It restarts, and its successor has the same instance id.
        elif self.rng.chance(1, 4):
            yield from self._vanish()
        else:
            yield from self.member.leave(cluster)

    def _vanish(self) -> Script[None]:
        """Stop without LeaveGroup, and return before or after the session has ended."""
        self.member.forget()
        yield Sleep(self.rng.between(200, 5_000))

    def _has_unassigned_partitions(self) -> bool:
        """Return whether the topics have partitions that were not assigned."""
        return bool(self.member.known) and self.application.partitions() != self.member.known

    def _begin(self, cluster: str) -> Script[bool]:
        """Set the positions of newly assigned partitions to the committed offsets; return False if they are unknown."""
        fresh = [tp for tp in self.member.partitions if tp not in self.positions]
        if fresh:
            committed = yield from self.requests.offsets(cluster, fresh, stable=True)
            if committed is None:
                return False
            for tp in fresh:
                self.positions[tp] = committed.get(tp, Position())
        return True

    def work(self, cluster: str) -> Script[None]:
        """Read, and commit sometimes; rarely commit an older offset and read from it again."""
        yield from self.read(cluster, self.member.partitions)
        if not self.rng.chance(1, 3):
            return
        if self.application.is_writing() and self.rng.chance(1, 12):
            for tp in self.member.partitions:
                position = self.positions[tp]
                self.positions[tp] = Position(max(0, position.offset - self.rng.between(1, BACK_MAX)))
        yield from self.stall()
        yield from self._commit_read(cluster, self.member.partitions)

    def stall(self) -> Script[None]:
        """Sometimes pause for longer than the session timeout, and continue as if nothing had happened."""
        if self.application.is_writing() and self.rng.chance(1, 25):
            yield Sleep(self.session_ms + self.rng.between(500, 3_000))

    def _commit_read(self, cluster: str, partitions: Sequence[TopicPartition]) -> Script[None]:
        committed = self._committed_offsets
        changed = {
            tp: position
            for tp in partitions
            if (position := self.positions[tp]).offset not in (0, committed.get((cluster, tp)))
        }
        if not changed:
            return
        offsets = {tp: position.offset for tp, position in changed.items()}
        error, _ = yield from self.requests.commit(cluster, changed, self.member.sender)
        if error is ErrorCode.NONE:
            committed.update({(cluster, tp): offset for tp, offset in offsets.items()})
