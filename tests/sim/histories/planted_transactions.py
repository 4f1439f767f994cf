"""Faults planted into the state of logs, and into transaction coordinators.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.markers import TransactionMarkers
from kmirror.cluster.coordinators.transactions.state import Transaction
from kmirror.log import producer_entry, retention
from kmirror.log.producers import ProducerStates
from tests.sim.histories.planted import Patch, fault

PLAN = "transactions_that_time_out"


@fault("producers", profile=PLAN)
def four_batches_are_kept(patch: Patch) -> None:
    """A log stores one batch of each producer less than it must recognise."""
    patch(producer_entry, "BATCHES_RETAINED", 4)


@fault("stable", profile=PLAN)
def markers_count_at_once(patch: Patch) -> None:
    """A transaction is over for readers before its marker is replicated."""
    patch(ProducerStates, "add_unreplicated", lambda self, transactions: None)


@fault("transaction-fence", profile=PLAN)
def timed_out_producers_are_not_fenced(patch: Patch) -> None:
    """A producer whose transaction timed out keeps its epoch."""

    def abort(self: TransactionCoordinator, now: Any, transaction: Transaction) -> None:
        self.end(now, transaction, commit=False, client_version=0)

    patch(TransactionCoordinator, "abort_and_fence", abort)


@fault("transaction-overdue", profile=PLAN)
def transactions_do_not_time_out(patch: Patch) -> None:
    """Transactions do not time out."""
    patch(TransactionCoordinator, "_sweep", lambda self, now: None)


@fault("transaction-markers", profile=PLAN)
def transactions_end_without_markers(patch: Patch) -> None:
    """A transaction counts as complete once its end is decided."""

    def send(self: TransactionMarkers, now: Any, transactional_id: str) -> None:
        transaction = self._find(transactional_id)
        if transaction is not None:
            self._complete(now, transaction, self._pending[transactional_id])

    patch(TransactionMarkers, "send", send)


@fault("retention-overdue", profile="kept_for_seconds_at_the_source")
def old_segments_stay(patch: Patch) -> None:
    """Old segments are searched, but none is ever deleted."""
    patch(retention, "deletable", lambda segments, rule, high_watermark: 0)
