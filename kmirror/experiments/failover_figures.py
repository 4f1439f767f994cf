"""What does a run of the failover experiment come to? What was measured, and the rules that did not hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.experiments.failover_options import ExperimentOptions


@dataclass(slots=True)
class Figures:
    """What a run showed. Times are virtual milliseconds.

    A record is acknowledged when its batch was, and one in a transaction when the commit was. It is on a cluster if a
    committed reader gets it there.
    """

    mirrored_bytes: int = 0
    """Size of the record batches that b had after the failover's cut."""
    mirrored_batches: int = 0
    """How many batches that were."""
    mirrored_records: int = 0
    """How many records were in them."""
    lag_max: int = 0
    """Offsets below a's high watermark that b did not have, at most, before the failure; undecided ones too (D22)."""
    lag_at_failure: int = 0
    """The same at the instant of the failure."""
    lag: list[tuple[int, int]] = field(default_factory=list)
    """(ms since the load began, offsets), up to the earliest instant at which a may fail."""
    open_transaction_ms: int = 0
    """How long the oldest transaction that was open at the failure had been open by then."""
    undecided_at_failure: int = 0
    """Offsets between a's last stable offset and its high watermark: no mirror is given these."""
    rpo_records: int = 0
    """Acknowledged by a before it failed, and not on b."""
    rpo_ms: int = 0
    """From the earliest acknowledgement of one of these to the failure."""
    rpo_transactional_records: int = 0
    """Those of `rpo_records` that were in transactions."""
    lost_transactions: int = 0
    """Commits that a acknowledged before it failed, of whose records b does not have all."""
    torn_transactions: int = 0
    """Those of `lost_transactions` of which b has some records: whole in one partition, missing in another."""
    rto_ms: int = 0
    """From the failure to the first batch that b took, in the slowest partition; its commit may come later."""
    stop_ms: int = 0
    """From the order to fail over until the last partition is STOPPED, so that b lets producers in."""
    failover_cut_records: int = 0
    """Offsets that b's leaders cut: what was undecided there, and what came after it."""
    failback_cut_records: int = 0
    """Offsets that the failback cut from a."""
    failback_lost_records: int = 0
    """Acknowledged by a, and nowhere after the failback."""
    failback_ms: int = 0
    """From the order to fail back until a has all that b has; where b never mirrored anything a keeps its own (D25)."""
    wire_bytes: int = 0
    """Sent between the clusters, both ways."""
    acked_records: int = 0
    """Acknowledged by a and b together, over the whole run."""
    refused_produces: int = 0
    """Batches that b answered with an error."""
    state_ms: dict[str, int] = field(default_factory=dict)
    """How long a partition spent in a state, summed over partitions and both mirrors."""
    virtual_ms: int = 0
    """How long the run was, from the beginning of the load."""
    events: int = 0
    """How many events the simulator handled; a measure of the work that a run is."""


@dataclass(slots=True)
class Outcome:
    """A finished run."""

    options: ExperimentOptions
    figures: Figures
    broken: list[str]
    """Rules that did not hold, each with where; empty in a good run."""
    digest: str
