"""Results of a run of the failover experiment: measurements, and broken rules."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.experiments.failover_options import ExperimentOptions


@dataclass(slots=True)
class Figures:
    """Measurements of a run. Times are virtual milliseconds.

    A record counts as acknowledged when its batch was, or, in a transaction, when the commit was. It counts as on a
    cluster if a read_committed consumer gets it there.
    """

    mirrored_bytes: int = 0
    """Bytes of the record batches that b had after the failover's truncation."""
    mirrored_batches: int = 0
    """Number of those batches."""
    mirrored_records: int = 0
    """Number of their records."""
    lag_max: int = 0
    """Maximum number of offsets below a's HW that b lacked before the failure, including undecided ones (D22)."""
    lag_at_failure: int = 0
    """The same at the time of the failure."""
    lag: list[tuple[int, int]] = field(default_factory=list)
    """(ms since the load began, offsets), up to the earliest instant at which a may fail."""
    open_transaction_ms: int = 0
    """Time that the oldest transaction open at the failure had been open."""
    undecided_at_failure: int = 0
    """Offsets between a's LSO and its HW, which no mirror gets."""
    rpo_records: int = 0
    """Records acknowledged by a before it failed, and not on b."""
    rpo_ms: int = 0
    """Time from the earliest acknowledgement of one of these to the failure."""
    rpo_transactional_records: int = 0
    """Those of `rpo_records` that were in transactions."""
    lost_transactions: int = 0
    """Commits that a acknowledged before it failed, and whose records are not all on b."""
    torn_transactions: int = 0
    """Those of `lost_transactions` with some records on b: complete in one partition, missing in another."""
    rto_ms: int = 0
    """Time from the failure to the first batch accepted by b, in the slowest partition; its commit may come later."""
    stop_ms: int = 0
    """Time from the failover order until the last partition is STOPPED, so that b accepts writes."""
    failover_cut_records: int = 0
    """Offsets truncated by b's leaders: undecided records there, and those after them."""
    failback_cut_records: int = 0
    """Offsets that the failback truncated from a."""
    failback_lost_records: int = 0
    """Records acknowledged by a that no cluster has after the failback."""
    failback_ms: int = 0
    """Time from the failback order until a has all records of b; if b never mirrored anything a keeps its own (D25)."""
    wire_bytes: int = 0
    """Bytes sent between the clusters, in both directions."""
    acked_records: int = 0
    """Records acknowledged by a and b together, over the whole run."""
    refused_produces: int = 0
    """Batches that b refused with an error."""
    state_ms: dict[str, int] = field(default_factory=dict)
    """Time that partitions spent in a state, summed over partitions and both mirrors."""
    virtual_ms: int = 0
    """Length of the run, from the beginning of the load."""
    events: int = 0
    """Events handled by the simulator, as a measure of the work of a run."""


@dataclass(slots=True)
class Outcome:
    """A finished run."""

    options: ExperimentOptions
    figures: Figures
    broken: list[str]
    """Broken rules, each with its place; empty in a good run."""
    digest: str
