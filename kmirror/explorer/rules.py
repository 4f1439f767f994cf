"""Rules of a search: the decided ones, the KIP's text alone, or deliberately wrong ones.

`Rules` is a row of switches. The functions below make the engine's decisions as pure functions of their inputs; where
the engine has such a function (kmirror/mirror/cut_rules.py), it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from kmirror.errors import UsageError
from kmirror.mirror.cut_rules import FROM_SCRATCH, epoch_after_stop
from kmirror.mirror.state_records import NEVER_MIRRORED
from kmirror.mirror.states import MirrorState


class Listing(Enum):
    """The value that D30 keeps for a replica that missed a truncation."""

    NOTHING = "nothing"
    EPOCH = "the cut epoch"
    OFFSET = "the cut offset"


class ListWriting(Enum):
    """Times at which D30's list is written: always before a cut that removes anything from the leader's log, and ..."""

    AT_EVERY_CUT = "for all replicas, also if the leader has nothing to cut"
    WITH_MIRRORING = "with MIRRORING, for those that have not confirmed"
    IF_REMOVING = "at no other time"


@dataclass(frozen=True, slots=True)
class Rules:
    """One set of rules; the defaults are those of the decisions."""

    listing: Listing = Listing.EPOCH
    """D30."""
    only_mirroring: bool = False
    """Deliberately wrong: D30's list is in force in MIRRORING only."""
    replaces_list: bool = False
    """Deliberately wrong: the next session's list replaces the last one's."""
    list_written: ListWriting = ListWriting.WITH_MIRRORING
    stop_unlists_leader: bool = True
    """Every state written after its truncation removes the leader from the list, also a stop from PREPARING."""
    fetches_confirm: bool = True
    """D35; otherwise a LEO at or below the leader's is enough."""
    always_bumps: bool = True
    """D36; otherwise only if the leader epoch is not above the LME."""
    stop_waits: bool = True
    """D37: a stop truncates only after every ISR member has fetched from this leader."""
    prepared_stop_settles: bool = False
    """Not D37: a stop from PREPARING settles an epoch of its own."""
    untouched_stays: bool = True
    """D33: a stop does not truncate a log that the session has neither truncated nor appended to."""
    waits_for_only_copy: bool = True
    """D25: no truncation from scratch for a source that has stopped and never mirrored anything."""
    own_epoch: bool = True
    """D31: when a topic is added again in the same direction, our own LME is used where the source has none."""
    greatest_epoch: bool = True
    """D39: the greater of the source's and our own LME, not the source's first."""
    shared_copy_continues: bool = True
    """D25: no wait for an only copy if truncating to our own LME removes only our own resets."""
    own_epoch_suffices: bool = False
    """A cluster with an LME of its own need not wait for an only copy (D25)."""
    follows_epochs: bool = True
    """D14: the local leader epoch reaches the source's before anything is appended."""
    removes_anywhere: bool = True
    """D6: a topic can be removed from PREPARING; the KIP requires MIRRORING."""
    all_replicas: bool = False
    """`mirror.support.unclean.leader.election`: PREPARING waits for every assigned replica."""


DECIDED = Rules()
KIP = Rules(
    listing=Listing.NOTHING, fetches_confirm=False, always_bumps=False, stop_waits=False, prepared_stop_settles=True,
    untouched_stays=False, waits_for_only_copy=False, shared_copy_continues=False, own_epoch=False,
    greatest_epoch=False, follows_epochs=False, removes_anywhere=False,
)  # fmt: skip

RULES_BY_NAME: Mapping[str, tuple[Rules, str]] = {
    "decided": (DECIDED, "the decided rules: D14, D25, D30, D31, D33, D35 to D37, D39"),
    "kip": (KIP, "the KIP's text alone"),
    "own-suffices": (
        replace(DECIDED, own_epoch_suffices=True),
        "the decided rules, but a last mirrored epoch of its own allows a cluster to skip D25's wait",
    ),
    "list-at-every-cut": (
        replace(DECIDED, list_written=ListWriting.AT_EVERY_CUT),
        "the decided rules, but D30's list is written at every cut, also if the leader has nothing to cut",
    ),
    "offset": (replace(DECIDED, listing=Listing.OFFSET), "deliberately wrong: D30 keeps an offset, not an epoch"),
    "replaced": (replace(DECIDED, replaces_list=True), "deliberately wrong: each session's list replaces the last one"),
    "mirroring-only": (
        replace(DECIDED, only_mirroring=True), "deliberately wrong: D30's list is in force in MIRRORING only"
    ),
    "list-if-removing": (
        replace(DECIDED, list_written=ListWriting.IF_REMOVING),
        "deliberately wrong: D30's list is written only if the leader's own cut removes anything",
    ),
    "leader-stays-listed": (
        replace(DECIDED, stop_unlists_leader=False),
        "deliberately wrong: a stop out of PREPARING leaves its leader on D30's list",
    ),
}  # fmt: skip

DECISION_SWITCHES: Mapping[str, Mapping[str, object]] = {
    "D14": {"follows_epochs": False},
    "D25": {"waits_for_only_copy": False},
    "D30": {"listing": Listing.NOTHING},
    "D31": {"own_epoch": False},
    "D33": {"untouched_stays": False},
    "D35": {"fetches_confirm": False},
    "D36": {"always_bumps": False},
    "D37": {"stop_waits": False, "prepared_stop_settles": True},
    "D39": {"greatest_epoch": False},
    "D37-settle": {"prepared_stop_settles": True},
    "D37-wait": {"stop_waits": False},
}


def find_rules(name: str, without: tuple[str, ...] = (), *, option: bool = False) -> Rules:
    """Return a named set of rules without some decisions; raises `UsageError` for an unknown name."""
    if name not in RULES_BY_NAME:
        raise UsageError(f"unknown rules {name!r}; known: {', '.join(RULES_BY_NAME)}")
    rules = RULES_BY_NAME[name][0]
    for decision in without:
        if decision not in DECISION_SWITCHES:
            raise UsageError(f"{decision!r} cannot be removed; removable: {', '.join(DECISION_SWITCHES)}")
        rules = replace(rules, **DECISION_SWITCHES[decision])  # type: ignore[arg-type]  # rows of the dataclass's own fields
    return replace(rules, all_replicas=True) if option else rules


def cut_epoch_for(
    rules: Rules, source_state: MirrorState, source_epoch: int, own_epoch: int, *, loses_nothing: bool
) -> int | None:
    """Return the epoch that PREPARING truncates to, None if it must wait (D11, D25, D31, D39).

    `source_epoch` and `own_epoch` are the LMEs settled by the source and by us, below 0 for none. `loses_nothing` means
    that our log is empty, or has nothing of our own that the source lacks (D25).
    """
    if source_state not in (MirrorState.UNKNOWN, MirrorState.STOPPED):
        return None
    has_stopped = source_state is MirrorState.STOPPED
    settled_by_source = max(source_epoch, FROM_SCRATCH) if has_stopped else FROM_SCRATCH
    settled_here = max(own_epoch, FROM_SCRATCH) if rules.own_epoch else FROM_SCRATCH
    need_not_wait = loses_nothing or (rules.own_epoch_suffices and settled_here >= 0)
    if has_stopped and settled_by_source < 0 and rules.waits_for_only_copy and not need_not_wait:
        return None
    return (
        settled_by_source
        if settled_by_source >= 0 and not rules.greatest_epoch
        else max(settled_by_source, settled_here)
    )


def settled_epoch(last_epoch: int) -> int:
    """Return the value that a stop persists for a log with this last epoch (D10)."""
    return NEVER_MIRRORED if last_epoch < 0 else last_epoch


def stop_epoch(rules: Rules, leader_epoch: int, last_mirrored_epoch: int, latest_epoch: int) -> int:
    """Return the leader epoch in which the producer reset is written (D15, D36)."""
    if rules.always_bumps:
        return epoch_after_stop(leader_epoch, last_mirrored_epoch)
    highest = max(last_mirrored_epoch, latest_epoch)
    return leader_epoch if leader_epoch > highest else highest + 1
