"""Rows of trace lines: notes of nodes, expired timers, closed links."""

from __future__ import annotations

from kmirror.histories.coverage.row import Origin, Row


def _row(name: str, pattern: str, doc: str, unreachable: str = "") -> Row:
    return Row(name, doc, Origin.TRACE, pattern=pattern, unreachable=unreachable)


_AS_SENT = "the disks and the network of a history change no byte of a batch"
_DISK_ERRORS = "every disk error in a history is a system error, which takes the whole directory offline"

_NODES = (
    _row("node.broker-killed", r"^broker: killed$", "A broker's process ends without warning."),
    _row("node.controller-killed", r"^controller: killed$", "A controller's process ends without warning."),
    _row("node.power-lost", r": lost \d+ bytes$", "A node loses power."),
    _row("node.power-lost-bytes", r": lost [1-9]\d* bytes$", "A power cut loses unflushed bytes."),
    _row("node.stopped", r"^broker: stopped$", "A broker stops cleanly."),
    _row("node.controller-stopped", r"^controller: stopped$", "A controller stops cleanly."),
    _row("node.registered", r": registered with broker epoch", "A broker registers at its controller."),
    _row("node.fenced-session", r": fencing broker \d+: its session", "A broker is fenced, as its session ended."),
    _row("node.fenced-shutdown", r": fencing broker \d+: (?!its session)", "A broker is fenced for another reason."),
    _row("node.unfenced", r": unfencing broker", "A broker is unfenced."),
    _row("node.controlled-shutdown", r"begins its controlled shutdown", "A broker hands its leaderships over."),
    _row("node.shutdown-too-long", r"did not let this broker go in time", "A controlled shutdown takes too long."),
    _row("link.closed", r": link to \S+ on", "A node learns that its link to another one is closed."),
    _row("link.client-gone", r"^broker: ClientGone$", "A broker learns that a client's link is closed."),
    _row("disk.failed", r" fails$", "Writes to a log directory fail from now on."),
    _row("disk.job-failed", r": disk work .* failed:", "A disk job ends with an error."),
    _row("disk.directory-offline", r"log directory \S+ is offline", "A broker takes a log directory offline."),
    _row("disk.controller-told", r"has lost \d+ log director", "The controller learns that a directory is offline."),
    _row("disk.partition-offline", r"its log directory has failed", "A replica is offline with its log directory."),
)

_TIMEOUTS = (
    _row("timeout.request-client", r"^client: timer \('request-timeout'", "A client gets no response in time."),
    _row("timeout.request-broker", r"^broker: timer \('request-timeout'", "A broker gets no response in time."),
    _row("timeout.parked", r"^broker: timer \('parked'", "A produce or fetch request times out."),
    _row("timeout.metadata-fetch", r"^controller: timer \('metadata-fetch'", "A metadata fetch times out."),
    _row("timeout.delete-records", r"^broker: timer \('deletions'", "DeleteRecords waits for replicas too long."),
    _row(
        "timeout.group-session", r"^broker: timer \('groups', <Timer.SESSION",
        "A member of a group does not send heartbeats in time.",
    ),
    _row("timeout.group-join", r"^broker: timer \('groups', <Timer.JOIN", "A rebalance waits for no more members."),
    _row("timeout.group-sync", r"^broker: timer \('groups', <Timer.SYNC", "Members do not send SyncGroup in time."),
    _row("timeout.markers-again", r"timer \('transactions', 'markers'", "Transaction markers are sent again."),
    _row("timeout.mirror-retry", r"timer \('mirror', 'retry'\)", "A mirror sends a request to its source again."),
    _row("timeout.mirror-fetch", r"timer \('mirror', 'fetch'", "A mirror's fetcher waits before it continues."),
    _row("timeout.follower-fetch", r"timer \('follow'", "A follower waits before it fetches again."),
    _row("timeout.isr-again", r"timer \('isr', 'again'\)", "A leader requests its ISR again."),
)  # fmt: skip

_LOGS = (
    _row("log.cut-follower", r"follower cut at", "A follower cuts its log."),
    _row("log.cut-follower-range", r"follower cut at .*out of range", "A follower is ahead of its leader's log end."),
    _row("log.restart-follower", r"follower restarts at", "A follower starts again at its leader's log start."),
    _row(
        "log.unreadable-batch",
        r"unreadable batch from broker",
        "A follower receives an unreadable batch.",
        _AS_SENT,
    ),
    _row("log.retention", r"deletes \d+ segments", "Retention deletes segments."),
    _row("log.retention-many", r"deletes ([2-9]|\d\d+) segments", "Retention deletes several segments at once."),
    _row("log.compacted", r"compacted to offset", "The cleaner compacts a log."),
    _row("log.cut-while-compacted", r"was cut while it was compacted", "A log is cut while the cleaner works on it."),
    _row("log.uncleanable", r"cannot be compacted", "The cleaner fails."),
    _row("log.set-aside", r"is out of date: it is set aside as", "A broker finds a log that is out of date."),
    _row("log.damaged", r"is damaged: truncated at", "A broker truncates a log where it is damaged."),
    _row("log.not-flushed", r"could not be flushed", "A log cannot be flushed.", _DISK_ERRORS),
    _row("log.purged", r"timer \('logs', 'purge'\)", "Files of deleted segments are removed."),
    _row("log.metadata-snapshot", r"metadata snapshot \S+,", "A controller writes a snapshot of its image."),
    _row("log.metadata-begins", r"the metadata log begins at offset", "Old segments of the metadata log are deleted."),
)

_MIRRORS = (
    _row("mirror.state-read", r"state \w+ read, last mirrored epoch", "A leader reads its persisted state."),
    *(
        _row(f"mirror.read-{state.lower()}", rf"state {state} read,", f"A new leader continues from {state}.")
        for state in ("UNKNOWN", "PREPARING", "MIRRORING", "PAUSING", "PAUSED", "STOPPING", "STOPPED", "FAILED")
    ),
    _row("mirror.failed", r" failed: ", "A partition fails, with a reason."),
    _row("mirror.producer-reset", r"producer reset at offset", "A stop forgets the source's producers."),
    _row("mirror.reopened-committed", r"commits the transaction that the cut", "A reopened transaction is committed."),
    _row("mirror.reopened-aborted", r"aborts the transaction that the cut", "A reopened transaction is aborted."),
    _row("mirror.old-source-scratch", r"has no DescribeMirrors: cut from scratch", "A failback to an old source."),
    _row(
        "mirror.old-source-own-epoch", r"has no DescribeMirrors: cut to our own",
        "A log is mirrored again from an old source: it is cut to its own last mirrored epoch.",
    ),
    _row("mirror.written-anew", r"source's log was rewritten above", "The source's log has another lineage."),
    _row(
        "mirror.source-deleted", r"the source has deleted \S+: removed from",
        "The source has deleted a topic, which leaves the mirror.",
    ),
    _row(
        "mirror.source-unread-batch", r"source returned CORRUPT_MESSAGE", "The source finds a batch corrupt.",
        "our brokers do not read batches when they serve a fetch, so none returns it",
    ),
    *(
        _row(f"mirror.source-{code.lower()}", f" source returned {code}", f"A mirror's fetch gets {code}.")
        for code in ("UNKNOWN_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH",
                     "UNKNOWN_LEADER_EPOCH", "KAFKA_STORAGE_ERROR")
    ),
)  # fmt: skip

_WAITS = tuple(
    _row(f"wait.{name}", f" waits: {pattern}", f"A partition waits, and reports: {reason}")
    for name, pattern, reason in (
        ("coordinator", "waiting for the mirror's coordinator to persist", "the coordinator must store its state."),
        ("uncut", r"members \[.*have not confirmed the cut", "members of the ISR have not confirmed the cut."),
        ("reset", "not every member of the ISR has the producer reset", "the ISR lacks the producer reset."),
        ("log-end", "not every member of ISR .* is at", "the ISR is not at the leader's log end."),
        ("epoch-above", "waiting for leader epoch .* above the last", "the epoch must be above the last mirrored one."),
        ("epoch-source", "waiting for leader epoch .* the source's is", "the source's epoch is higher than ours."),
        ("no-answer", "no response from the source", "no broker responds at the source."),
        ("broker-away", "the source's broker .* does not respond", "the source's leader does not respond."),
        ("no-topic", "the source has no topic", "the source has no such topic."),
        ("no-proof", "no broker of the source has proved", "no broker at the source proves that it leads."),
        ("no-leader", "the source's leader is not known", "the source names no leader."),
        ("refused", "the source returned [A-Z_]+", "the source returns an error."),
        ("both-ways", "the source still mirrors this topic from us", "both clusters mirror from each other."),
        ("ring", "clusters mirror this topic in a ring", "clusters mirror the topic in a ring."),
        ("upstream", "the source has the topic from .* and must ask", "the source may have the topic from here."),
        ("cut-too-often", "the log was cut .* times and never passed", "its log is cut again and again."),
        ("only-copy", "the source's mirror .* stopped before it mirrored", "ours is the only copy."),
        ("min-isr", "ISR .* is smaller than min.insync", "the ISR is too small."),
        ("fewer-partitions", "the source's topic has .* partition", "the source's topic has fewer partitions."),
        ("other-cluster", "the source at bootstrap.servers is cluster", "another cluster responds at the source."),
        ("other-topic", "the source's topic has id", "the source's topic is another one."),
        ("cluster-id", "the source's cluster id is not stored", "the source's cluster id is not stored yet."),
    )
)

_SYNCS = (
    _row("sync.topic-failed", r"topic \S+ is not synced", "The sync of a topic fails."),
    _row("sync.topic-again", r"topic \S+ is synced again", "The sync of a topic works again."),
    _row("sync.group-failed", r"group \S+ is not synced", "The sync of a group's offsets fails."),
    _row("sync.group-again", r"group \S+ is synced again", "The sync of a group's offsets works again."),
    _row("sync.groups-failed", r"groups of the source's broker", "A broker at the source does not list its groups."),
    _row("sync.shrink-refused", r"a topic cannot shrink", "The source's topic has fewer partitions than ours."),
    _row(
        "sync.unplaced", r"is not synced: INVALID_REPLICA_ASSIGNMENT", "There are no live brokers for new partitions."
    ),
    _row("sync.other-cluster", r"its source is not synced", "Nothing is synced: another cluster responds."),
    _row(
        "sync.configs-unanswered",
        r"source did not respond to DescribeConfigs",
        "The source does not return its configs.",
    ),
    _row("sync.refresh", r"timer \('mirror', 'refresh'", "A mirror refreshes the metadata of its source."),
)

ROWS: tuple[Row, ...] = (*_NODES, *_TIMEOUTS, *_LOGS, *_MIRRORS, *_WAITS, *_SYNCS)
