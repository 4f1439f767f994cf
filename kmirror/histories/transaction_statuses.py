"""Allowed order of statuses in the records of a transactional id, for the checkers and for coverage."""

from __future__ import annotations

from kmirror.cluster.coordinators.transactions.state import Status

_S = Status
STATUSES_AFTER: dict[Status, tuple[Status, ...]] = {
    _S.EMPTY: (_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT),
    _S.ONGOING: (_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT),
    _S.PREPARE_COMMIT: (_S.COMPLETE_COMMIT,),
    _S.PREPARE_ABORT: (_S.COMPLETE_ABORT,),
    _S.COMPLETE_COMMIT: (_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT),
    _S.COMPLETE_ABORT: (_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT),
}
"""Status to the allowed statuses of the next record; the coordinator's `transitions.py` has a function for each."""
