"""Faults planted into the cleaner, and into mirrors of cleaned logs: too much or too little is removed.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.cluster.replication.log_cleaning import LogCleaning
from kmirror.log.cleaner import _Run
from kmirror.mirror import access, fetchers
from tests.sim.histories.planted import Patch, fault


@fault("key-lost", profile="keys_and_tombstones")
def latest_values_are_cleaned(patch: Patch) -> None:
    """The cleaner also removes the latest record of a key."""
    patch(_Run, "_is_latest", lambda run, record: record.offset > run.offsets.latest.get(record.key, -1))


@fault("key-came-back", profile="keys_and_tombstones")
def tombstones_are_cleaned_alone(patch: Patch) -> None:
    """The cleaner removes tombstones, and keeps the records that they have deleted."""
    patch(_Run, "_is_kept", lambda run, record, batch: record.value is not None)


@fault("divergence", profile="keys_and_tombstones")
def one_replica_lacks_a_key(patch: Patch) -> None:
    """The cleaner removes all values of a key, in one of the replicas."""
    first: dict[str, Any] = {}

    def is_kept(run: Any, record: Any, batch: Any) -> bool:
        is_odd = first.setdefault("store", run.job.store) is run.job.store
        return original(run, record, batch) and not (is_odd and record.key == b"k1")

    original = patch(_Run, "_is_kept", is_kept)


@fault("compaction-overdue", profile="keys_in_a_mirror")
def mirrored_logs_are_left_alone(patch: Patch) -> None:
    """No replica cleans a log that is mirrored (D46)."""
    patch(LogCleaning, "_may_compact", lambda self, partition: not self._retention.is_mirrored(partition))


@fault("copied-needlessly", profile="keys_in_a_mirror_that_lags")
def copied_again_though_in_step(patch: Patch) -> None:
    """A mirror copies from scratch if offsets are missing at the source, however short its outage was (D64)."""
    original = patch(
        fetchers, "may_have_missed", lambda mp, log, data, now_ms: original(mp, log, data, now_ms + (1 << 60))
    )


@fault("compaction-overdue", profile="keys_in_a_mirror")
def mirrored_logs_are_left_alone_by_their_leaders(patch: Patch) -> None:
    """No leader cleans a mirrored log (D46)."""
    patch(access, "may_compact", lambda context, partition: not access.has_foreign_epochs(context, partition))
