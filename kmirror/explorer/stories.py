"""Stories: the path to a state as numbered sentences, each with the logs of all replicas after it.

In a search replicas have no names: followers are sorted to make equal states equal. Here each keeps its initial name,
and records are named by cluster in the order of writing: a1, a2, b1; a producer reset is R.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from kmirror.explorer.cluster import CUT, NOT_LISTED, Cluster
from kmirror.explorer.logs import entry_cluster, entry_epoch, is_reset
from kmirror.explorer.model import Model, ModelStep, State
from kmirror.kernel.names import counted
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED

CLUSTER_NAMES = "AB"
NO_EPOCH = {NOT_SETTLED: "-", NEVER_MIRRORED: "never mirrored"}


class ReplicaRow(NamedTuple):
    """Log of one replica."""

    replica: str
    is_leader: bool
    in_isr: bool
    uncut: int | None
    """Its row in D30's list: a cut epoch (an offset under some deliberately wrong rules), -1 from scratch."""
    cells: tuple[str, ...]
    """`epoch:record` for each offset."""


class ClusterPicture(NamedTuple):
    """One cluster after a step."""

    cluster: str
    state: str
    epoch: int
    high_watermark: int
    last_mirrored_epoch: str
    rows: tuple[ReplicaRow, ...]


class StoryStep(NamedTuple):
    """One step of a story."""

    number: int
    text: str
    pictures: tuple[ClusterPicture, ClusterPicture]


class _Names:
    """Names of replicas and records along one path."""

    def __init__(self, model: Model, first: State) -> None:
        self.model = model
        self.replicas = [
            [f"{name}{place + 1}" for place in range(len(cluster.replicas))]
            for name, cluster in zip(CLUSTER_NAMES, model.pair(first), strict=True)
        ]
        self._records: dict[tuple[int, int], str] = {}
        self._counts = [0, 0]

    def record(self, offset: int, number: int) -> str:
        if is_reset(number):
            return "R"
        name = self._records.get((offset, number))
        if name is None:
            cluster_number = entry_cluster(number)
            self._counts[cluster_number] += 1
            name = self._records[offset, number] = (
                f"{CLUSTER_NAMES[cluster_number].lower()}{self._counts[cluster_number]}"
            )
        return name

    def cells(self, log: int) -> tuple[str, ...]:
        entries = self.model.logs.logs[log].entries
        return tuple(f"{entry_epoch(number)}:{self.record(offset, number)}" for offset, number in enumerate(entries))

    def picture(self, cluster_number: int, cluster: Cluster) -> ClusterPicture:
        rows = [
            ReplicaRow(
                name, place == 0, replica.in_isr, None if replica.listed_cut == NOT_LISTED else replica.listed_cut,
                self.cells(replica.log),
            )
            for place, (name, replica) in enumerate(zip(self.replicas[cluster_number], cluster.replicas, strict=True))
        ]  # fmt: skip
        lme = NO_EPOCH.get(cluster.lme, str(cluster.lme))
        return ClusterPicture(
            CLUSTER_NAMES[cluster_number], cluster.state.name, cluster.epoch, cluster.hw, lme, tuple(sorted(rows))
        )


class _StepContext(NamedTuple):
    """A step before and after, as the sentences need it."""

    model: Model
    names: _Names
    cluster_number: int
    actor: str
    leader: str
    before: Cluster
    after: Cluster
    log_before: int
    log_after: int

    @property
    def cluster(self) -> str:
        return CLUSTER_NAMES[self.cluster_number]

    @property
    def source(self) -> str:
        return CLUSTER_NAMES[1 - self.cluster_number]

    @property
    def end_before(self) -> int:
        return self.model.logs.ends[self.log_before]

    @property
    def end(self) -> int:
        return self.model.logs.ends[self.log_after]

    @property
    def fetched(self) -> str:
        return self._records(self.end - self.end_before) if self.end > self.end_before else "nothing new"

    def _records(self, count: int) -> str:
        return counted(count, "record")

    @property
    def cut(self) -> str:
        removed = self.end_before - self.end
        return f"cuts {self._records(removed)}" if removed > 0 else "has nothing to cut"


def _fetch(context: _StepContext) -> str:
    text = f"{context.actor} fetches {context.fetched} from {context.leader}"
    joined = sum(row.in_isr for row in context.after.replicas) > sum(row.in_isr for row in context.before.replicas)
    has_confirmed = sum(row.has_confirmed for row in context.after.replicas) > sum(
        row.has_confirmed for row in context.before.replicas
    )
    text += ", which confirms its cut" if has_confirmed else ""
    return text + (", joins the ISR" if joined else "")


def _elected(context: _StepContext) -> str:
    subject = (
        f"{context.actor} restarts and remains leader"
        if context.actor == context.leader
        else f"{context.actor} is elected"
    )
    return f"{subject}, epoch {context.after.epoch}{_missed_cut_text(context)}"


def _unclean(context: _StepContext) -> str:
    return f"unclean election: {context.actor} leads, epoch {context.after.epoch}{_missed_cut_text(context)}"


def _missed_cut_text(context: _StepContext) -> str:
    return (
        f"; it performs a cut that it missed, and its log ends at {context.end}"
        if context.end < context.end_before
        else ""
    )


def _decide(context: _StepContext) -> str:
    extent = "from scratch" if context.after.cut_epoch < 0 else f"to epoch {context.after.cut_epoch}"
    text = f"{context.leader} asks {context.source} where to cut: {extent}"
    if context.after.phase == CUT:
        return f"{text}; its log has nothing to cut"
    return text + ("; all replicas are listed" if context.after.leader.listed_cut != NOT_LISTED else "")


SENTENCES: dict[str, Callable[[_StepContext], str]] = {
    "append": lambda s: f"{s.actor} writes {s.names.cells(s.log_after)[-1]} at offset {s.end - 1}",
    "fetch": _fetch,
    "diverged": lambda s: f"{s.actor} fetches from {s.leader}, gets a diverging epoch and {s.cut}",
    "missed-cut": lambda s: f"{s.actor} has missed a cut, fetches from {s.leader} and {s.cut}",
    "unlist": lambda s: f"{s.leader} removes the replicas that have confirmed their cut from the list",
    "leaves": lambda s: f"{s.actor} leaves the ISR",
    "elected": _elected,
    "unclean": _unclean,
    "add": lambda s: f"{s.cluster} is added as a mirror of {s.source}",
    "remove": lambda s: f"{s.cluster} is removed from the mirror, in {s.before.state.name}",
    "decide": _decide,
    "cut": lambda s: f"{s.leader} {s.cut}",
    "mirroring": lambda s: f"{s.cluster} is MIRRORING: every replica that must cut has confirmed it",
    "mirror": lambda s: f"{s.leader} fetches {s.fetched} from {s.source}",
    "mirror-cut": lambda s: f"{s.leader} fetches from {s.source}, gets a diverging epoch and {s.cut}",
    "stop-cut": lambda s: f"{s.leader} stops fetching and {s.cut} above the high watermark",
    "settle": lambda s: f"{s.leader} settles the last mirrored epoch: {NO_EPOCH.get(s.after.lme, s.after.lme)}",
    "reset": lambda s: f"{s.leader} writes the producer reset in epoch {s.after.epoch}",
    "stopped": lambda s: f"{s.cluster} is STOPPED, writable",
}  # fmt: skip


def build_story(model: Model, path: Sequence[State]) -> list[StoryStep]:
    """Return the story along `path`."""
    names = _Names(model, path[0])
    story = []
    for number, (state, target) in enumerate(pairwise(path), 1):
        step = next(found for found in model.described_steps(state) if found.state == target)
        context = _step_context(model, names, state, step)
        names.replicas[step.cluster_number] = [names.replicas[step.cluster_number][place] for place in step.move.places]
        text = SENTENCES[step.move.kind](context)
        a, b = (names.picture(cluster_number, cluster) for cluster_number, cluster in enumerate(model.pair(target)))
        story.append(StoryStep(number, text, (a, b)))
    return story


def _step_context(model: Model, names: _Names, state: State, step: ModelStep) -> _StepContext:
    before = model.pair(state)[step.cluster_number]
    place = step.move.place
    after = step.move.after
    replica_names = names.replicas[step.cluster_number]
    return _StepContext(
        model, names, step.cluster_number, replica_names[place], replica_names[0], before, after,
        before.replicas[place].log, after.replicas[step.move.places.index(place)].log,
    )  # fmt: skip


def format_step(step: StoryStep) -> list[str]:
    """Return a step as lines: its sentence, then the log of every replica, one column per offset."""
    lines = [f"{step.number:>3}. {step.text}"]
    count = max((len(row.cells) for picture in step.pictures for row in picture.rows), default=0)
    width = max((len(cell) for picture in step.pictures for row in picture.rows for cell in row.cells), default=1)
    header = " ".join(str(offset).center(width) for offset in range(count))
    lines.append(f"{'':22}{header}".rstrip())
    for picture in step.pictures:
        for row in picture.rows:
            marks = f"{'leader' if row.is_leader else '':6} {'ISR' if row.in_isr else '':3}"
            cells = [cell.ljust(width) for cell in row.cells] + [" " * width] * (count - len(row.cells))
            uncut_text = "" if row.uncut is None else f"  uncut: {row.uncut}"
            lines.append(f"      {row.replica:3} {marks}  {' '.join(cells)}{uncut_text}".rstrip())
        summary = f"{picture.state} epoch {picture.epoch} HW {picture.high_watermark} LME {picture.last_mirrored_epoch}"
        lines.append(f"      {picture.cluster}: {summary}")
    return lines
