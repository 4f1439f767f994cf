"""Transactions that time out late, because a coordinator's clock was ahead when they began.

A coordinator dates a transaction with its own clock. Once that clock, or the next coordinator's, is right again, the
transaction seems younger than it is and stays open for longer, which checkers must excuse. A transaction that its
client ends needs no timeout.
"""

from __future__ import annotations

from kmirror.histories.account import Account, Transaction
from kmirror.histories.plan import Plan


def times_out_late(plan: Plan, transaction: Transaction) -> bool:
    """Return whether no client ended the transaction, and a clock of its cluster was ahead."""
    is_ahead = any(
        step.action == "set_clock" and step.args["cluster"] == transaction.cluster and int(step.args["ahead_ms"]) > 0
        for step in plan.steps
    )
    return is_ahead and not transaction.is_end_acknowledged


def may_be_open(plan: Plan, account: Account, producer_id: int) -> bool:
    """Return whether a transaction of the producer may time out late."""
    keys = {write.transaction: None for write in account.writes.values() if write.producer_id == producer_id}
    return any(times_out_late(plan, account.transactions[key]) for key in keys if key)
