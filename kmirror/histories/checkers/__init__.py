"""Named checkers of a history's account, and `judge`, which runs all of them.

A checker is a pure function of the observations of clients and operators. It must report nothing for a correct engine
in any history, so each excuse is as wide as the uncertainty in the account. Tests plant faults to check that each
checker finds real losses (tests/sim/histories/planted.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kmirror.histories.account import Account
from kmirror.histories.checkers import (
    configs,
    descriptions,
    disks,
    failbacks,
    groups,
    keys,
    logs,
    losses,
    mirrors,
    restarts,
    stops,
    transactions,
    transforms,
)
from kmirror.histories.checkers.facts import Facts
from kmirror.histories.checkers.wording import Finding
from kmirror.histories.plan import Plan
from kmirror.histories.verdict import Accepted, Anomaly

Check = Callable[[Facts], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Checker:
    find: Check

    @property
    def doc(self) -> str:
        """Return the finding in one sentence: the first paragraph of the docstring of `find`, for docs/histories.md."""
        return (self.find.__doc__ or "").partition("\n\n")[0].strip()


CHECKERS: dict[str, Checker] = {
    "acked-lost": Checker(losses.acked_lost),
    "mirrored-lost": Checker(losses.mirrored_lost),
    "last-copy-lost": Checker(losses.last_copy_lost),
    "key-lost": Checker(keys.key_lost),
    "key-came-back": Checker(keys.key_came_back),
    "divergence": Checker(logs.divergence),
    "half-transaction": Checker(transactions.half_transaction),
    "aborted-read": Checker(transactions.aborted_read),
    "hanging-transaction": Checker(transactions.hanging_transaction),
    "pid-collision": Checker(transactions.pid_collision),
    "duplicate-at-offset": Checker(logs.duplicate_at_offset),
    "epoch-regression": Checker(logs.epoch_regression),
    "hw-regression": Checker(logs.hw_regression),
    "lme-loss": Checker(mirrors.lme_loss),
    "read-only-breach": Checker(mirrors.read_only_breach),
    "pause-breach": Checker(mirrors.pause_breach),
    "unordered-stop": Checker(stops.unordered_stop),
    "config-regression": Checker(configs.config_regression),
    "failback-copies-again": Checker(failbacks.failback_copies_again),
    "stuck-state": Checker(mirrors.stuck_state),
    "topic-id-mismatch": Checker(mirrors.topic_id_mismatch),
    "offset-lost": Checker(groups.offset_lost),
    "offset-regression": Checker(groups.offset_regression),
    "aborted-offset": Checker(groups.aborted_offset),
    "double-ownership": Checker(groups.double_ownership),
    "exactly-once": Checker(transforms.exactly_once),
    "disk-use": Checker(disks.disk_use),
    "described-wrong": Checker(descriptions.described_wrong),
    "broken-invariant": Checker(logs.broken_invariant),
    "changed-by-restart": Checker(restarts.changed_by_restart),
}
"""Name to checker, in the order in which findings are reported."""


def judge(account: Account, plan: Plan) -> tuple[list[Anomaly], list[Accepted]]:
    """Return every anomaly of a history, and the number of losses that the KIP or a decision accepts."""
    facts = Facts(account, plan)
    found: list[Anomaly] = []
    counted: list[Accepted] = []
    for checker in CHECKERS.values():
        for finding in checker.find(facts):
            if isinstance(finding, Anomaly):
                found.append(finding)
            else:
                counted.append(finding)
    return found, counted
