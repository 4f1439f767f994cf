"""`RULES`: every rule of nodes by name, with the description of its violation."""

from __future__ import annotations

from collections.abc import Mapping

BY_SUBJECT: Mapping[str, Mapping[str, str]] = {
    "Replication": {
        "two-leaders": "Two brokers have led a partition in the same leader epoch.",
        "range": "A leader's high watermark is below its log start offset, or above its log end offset.",
        "high-watermark": (
            "A high watermark rose above the log end of a member of the ISR, or while the ISR was smaller than "
            "`min.insync.replicas`."
        ),
        "epoch-start": "A leader's epoch begins above the end of its log.",
        "follower-end": "A leader has a log end offset for a follower that is above its own.",
        "isr-join": "A leader proposes a follower for the ISR that has not reached the start of the leader's epoch.",
        "isr-uncounted": "A leader ignores a member of the ISR that the controller added in its leader epoch.",
        "isr-overtaken": "A broker joined the ISR by a proposal that was made for an earlier partition epoch.",
        "isr-inactive": "A broker joined the ISR while fenced or in controlled shutdown.",
        "isr-epoch": "A broker joined the ISR by fetches of an earlier broker epoch (KIP-903).",
        "leader-partition-epoch": "A leader went back to an earlier partition epoch, while its leader epoch stayed.",
        "log-matching": "A follower appended after records that differ from its leader's, or that its leader "
        "lacks (KIP-101).",
    },
    "Logs": {
        "epochs": "A batch has another leader epoch than the log's epoch cache for its offset.",
        "epoch-order": "The leader epochs in a log's epoch cache, or their start offsets, do not ascend.",
        "epoch-entry": "A leader epoch in the log's epoch cache does not begin at its first batch.",
        "epoch-end": "A log returns an end of a leader epoch that is not the start of the next one, or the log end.",
        "producers": (
            "A log's producer state differs from the producer's batches: its epoch, its last sequence "
            "numbers, its transaction."
        ),
        "transactions": "A log's list of open transactions differs from its batches.",
        "stable": (
            "The last stable offset is not where the first undecided transaction begins, or not the high watermark "
            "if that is lower."
        ),
    },
    "Cleaner and retention": {
        "cleaned-above": "The cleaner removed a record in the active segment, or above the last stable offset.",
        "cleaned-latest": "The cleaner removed the latest committed record of a key.",
        "cleaned-tombstone": (
            "The cleaner removed a tombstone before `delete.retention.ms` had passed since a run first processed it."
        ),
        "compaction-overdue": (
            "A compacted log is dirtier than `min.cleanable.dirty.ratio`, and is not cleaned for several "
            "`log.cleaner.backoff.ms`."
        ),
        "retention-overdue": (
            "A segment older than `retention.ms` is kept, although its broker has checked several times."
        ),
    },
    "Transactions": {
        "transaction-life": "A transactional id entered a state that cannot follow its previous one.",
        "transaction-start": "The start time of an incomplete transaction changed.",
        "transaction-partitions": "A partition is no longer part of an incomplete transaction.",
        "transaction-epoch": "The producer epoch of a transactional id fell.",
        "transaction-producer": (
            "A transactional id got another producer id during a transaction, or with an epoch above 0."
        ),
        "transaction-fence": (
            "A coordinator ended a transaction without raising its producer epoch, so its producer is not fenced."
        ),
        "transaction-markers": "A transaction is complete, but still open at the leader of one of its partitions.",
        "transaction-again": ("A repeated EndTxn was rejected although the transaction had been completed that way."),
        "transaction-overdue": "A transaction is ongoing after its timeout, although it could be aborted.",
    },
    "Groups and offsets": {
        "generation": "The generation of a group fell.",
        "group-state": "A group entered a state that cannot follow its previous one.",
        "group-protocol": "A group chose a protocol that one of its members does not support.",
        "group-leader": "The leader of a group is not a member.",
        "group-empty": "A group is Empty but has members.",
        "assignment": "A group became Stable with an assignment that its leader has not sent.",
        "assignment-response": "A member received an assignment that no member sent for it in that generation.",
        "member-dropped": (
            "A member was removed that had neither left nor exceeded its session timeout nor missed a rebalance."
        ),
        "commit-fenced": "A coordinator accepted a commit of another generation, of a non-member, or without a "
        "member id.",
        "synced-epoch": "A mirror committed an offset with a later leader epoch than its partition's.",
        "offset-committed": "A coordinator has another committed offset than its log.",
        "offset-pending": "A coordinator has other offsets of open transactions than its log.",
        "offset-removed": (
            "A committed offset was removed without a request, before it expired, while its topic existed."
        ),
    },
    "Producers": {
        "producer-epoch": "A producer sent a batch of an earlier epoch than one before.",
        "producer-gap": "The sequence numbers of a producer have a gap, or do not begin with 0 in an epoch.",
        "producer-renumbered": "A producer sent a batch again with another sequence number.",
        "producer-reused": "A producer reused the sequence number of a batch for another one.",
        "producer-overlap": "Two different batches of a producer have sequence numbers in common.",
        "producer-acked": "A producer sent a batch again after it was acknowledged.",
        "producer-in-flight": "A producer has more than five batches in flight for a partition.",
        "producer-leaders": "A producer sent to another leader while a request to the previous one was in flight.",
        "delivery-twice": "An application received two results for one batch.",
        "delivery-late": "An application received the result of a batch too late, or never.",
    },
    "Fetches": {
        "session-unknown": "A fetch uses a session that no response has created (KIP-227).",
        "session-left": "A fetch uses a session that has ended, or whose last request got no response.",
        "session-epoch": "A fetch has a session epoch that does not follow the previous one.",
        "session-both": "A fetch requests and forgets a partition in the same request.",
        "fetch-offset": "A consumer does not continue at the end of the last response.",
        "answer-unasked": "A fetch response has a partition that was not requested.",
        "answer-below": "A fetch response has a batch that ends below the fetch offset.",
        "answer-above": (
            "A fetch response has records above the high watermark, or the last stable offset for read_committed."
        ),
        "reader-order": "A consumer returned a record below its position, or not in the order of offsets.",
        "reader-stands": "A consumer makes no progress, although there are records to read and nothing is down.",
    },
    "Mirroring: cuts": {
        "empty-above-0": "The cut in PREPARING removed a whole log, but the log does not begin at 0 (D56).",
        "cut-too-deep": "The cut in PREPARING removed records that both clusters have, up to the last mirrored "
        "epoch of a stop.",
        "copied-needlessly": "A mirror copies a log from scratch, although it is neither incomplete nor wrong "
        "(D63, D64).",
        "deletions-missed": "A mirror continues across missing offsets, where tombstones may have been removed (D64).",
        "mirrors-foreign": "MIRRORING began with records that the source lacks and that were not cut.",
        "isr-uncut": "MIRRORING began while an in-sync replica has other records than its leader.",
        "last-mirrored-epoch": "MIRRORING began with the last mirrored epoch of the previous session (D23).",
        "beyond-source": "A partition was mirrored beyond the high watermark of its source.",
        "unlike-source": "Mirrored records differ from the source's.",
        "away-uncut": "A replica outside the ISR would return with records that its leader does not have (D30).",
    },
    "Mirroring: lists of uncut replicas": {
        "cut-unlisted": "A leader cut its log before all replicas were listed for that cut (D30).",
        "list-rises": "A replica is listed for a smaller cut than the one that it has missed.",
        "not-demanded": "A leader does not require the cut for which a follower is listed.",
        "demanded-less": "A leader requires a smaller cut of a follower than the one for which it is listed.",
        "demands-too-little": (
            "A follower that performs every required cut would have records that its leader does not have."
        ),
        "admitted": "A follower may join the ISR before it has performed a cut.",
        "believed": "A follower counts as cut because of a fetch before its leader's own cut (D35).",
        "confirmed-early": "A follower counts as cut, but has records of a later epoch than the cut leaves.",
        "struck-off": "A replica was removed from the list before it confirmed its cut.",
        "not-listed": "MIRRORING began while a replica that is not listed has records that its leader does not have.",
        "late-not-listed": "MIRRORING began while a replica that has not confirmed its cut is not listed.",
        "all-replicas": (
            "MIRRORING began without some replicas in the ISR, though `mirror.support.unclean.leader.election` is true."
        ),
    },
    "Mirroring: lineages": {
        "lineage-lost": (
            "A lineage was lost, or replaced by an earlier one (D45), or its state was lost in one leader epoch (D68)."
        ),
        "state-not-kept": "After settling, `__mirror_state` has another state or lineage than the leader of a "
        "partition (D68).",
        "below-lineage": "A partition was mirrored in a leader epoch below the one from which its lineage holds.",
        "copy-not-followed": "A mirror continues, although its source has begun to copy its log from scratch (D69).",
        "source-offset": "A mirror has a higher high watermark for its source than the source itself.",
        "source-start": "A mirror has a lower log start offset for its source than the source itself.",
    },
    "Mirroring: stops": {
        "stop-epoch": "A partition has stopped before its leader had the later leader epoch that a stop needs (D36).",
        "stop-reset": "A stop is complete, but the log does not end with its producer reset.",
        "stop-producers": "A stop is complete, but the log has producer states or open transactions.",
        "stop-tail": "A stop is complete, but records are left above its cut offset.",
        "stop-settled": "A stop persisted another last mirrored epoch than that of the last mirrored batch.",
        "stop-commits-aborted": "A stop committed a transaction that was aborted (D29).",
        "stop-commits-half": "A stop committed a transaction although the log lacks some of its records (D29).",
    },
    "Controllers": {
        "isr-members": "An ISR has a broker twice, or a broker without a replica.",
        "leader-isr": "A partition is led by a broker outside its ISR.",
        "leader-inactive": "A partition is led by a broker without a replica, an inactive broker, or one whose "
        "log is offline.",
        "leaderless": "A partition has no leader, although a member of its ISR may lead.",
        "partition-epoch": "A partition has changed, but its partition epoch did not rise.",
        "leader-epoch": "A leader epoch fell, or did not rise when the leader changed.",
        "unclean-isr": "A leader was elected from outside the ISR, but is not the only member of the new one.",
        "unclean-leader": "A leader was elected from outside the ISR, although a member of the ISR may lead.",
        "unclean-refused": (
            "A leader was elected from outside the ISR, although `unclean.leader.election.enable` is false."
        ),
        "eligible-unclean": "A broker that ended uncleanly is in an ISR, or eligible, as soon as it registers (D71).",
        "shutdown-leads": "The controller let a broker shut down while it led partitions.",
        "shutdown-unknown": "The controller let a broker shut down before all brokers knew that it led no partition.",
        "directory": "After settling, a controller does not know in which log directory a broker has a log (KIP-858).",
        "other-image": "A broker or a restarted controller has another image than the controller had.",
    },
    "Answers": {
        "refused-written": "A leader rejected a batch as out of order, although the batch is in its log and "
        "producer state.",
        "answer-order": "The responses of a connection are not in the order of its requests.",
        "unanswered": "A controller does not respond, although all records in its log are committed.",
        "answer-rows": "A response has other topics, partitions or resources than its request.",
        "answer-code": "A topic to be added, removed, paused or resumed gets an error that does not match its state.",
        "answer-active": "A topic was added to a mirror, although one of its partitions has not stopped yet (D6).",
        "answer-partitions": "CreateTopics rejected a valid number of partitions, or accepted an invalid one.",
        "answer-configs": "DescribeConfigs returned configs or synonyms that were not requested, or omitted some.",
    },
    "Syncs": {
        "refresh-late": "A broker needs data from a mirror's source, but does not send the request as soon as it may.",
        "mirror-assignments": "A broker does not follow `mirror.name` of a topic, as set in its image.",
        "stopped-early": "A topic was stopped before its source lacked it twice in a row (D16).",
        "synced-again": "A sync reported its recovery without having reported a problem.",
        "config-flaps": "A config was removed from a mirrored topic again, although the source had it all the time.",
        "synced-unmirrored": "A sync altered a topic that was not mirrored at the time (D75).",
        "stopped-outdated": "A topic was stopped as deleted, although its source had had it for 15 s (D60).",
        "created-outdated": "A mirror created a topic with an id that its source had not had for 15 s (D60).",
        "config-outdated": "A mirror set a config to a value that its source had not had for 15 s (D60).",
        "offset-outdated": "A mirror committed an offset of a group from a broker that was no longer its "
        "coordinator (D60).",
    },
    "Descriptions and metrics": {
        "described-mirrors": "DescribeMirrors returns other mirrors than the cluster has.",
        "described-topics": "DescribeMirrors leaves out a topic of a mirror that has no leader, or does not exist.",
        "described-partitions": "DescribeMirrors returns other partitions of a mirror than the broker leads.",
        "described-offset": "DescribeMirrors returns another destination offset than the high watermark.",
        "described-lag": "DescribeMirrors returns a lag that is not the difference of the offsets that it returns.",
        "described-reason": "DescribeMirrors returns a FAILED partition without a reason.",
        "metric-count": "A metric differs from the number of partitions, topics, brokers or controllers.",
        "metric-max-lag": "`MaxLag` is not the greatest lag that DescribeMirrors returns, or -1 while one is.",
        "metric-consumer-lag": "`ConsumerLag` is not the lag that DescribeMirrors returns.",
        "metric-failed": "`FailedPartitionsCount` is less than the number of failed partitions in DescribeMirrors.",
    },
    "Timers and snapshots": {
        "late-timer": "A node set a timer to a time in the past.",
        "two-snapshots": "A node writes two snapshots of the metadata log at once.",
    },
}
"""Subject to its rules, each with one sentence that describes the violation."""

RULES: Mapping[str, str] = {name: text for rules in BY_SUBJECT.values() for name, text in rules.items()}
