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
        "follower-end": "A leader takes the log end of a follower to be above its own.",
        "isr-join": "A leader proposes a follower for the ISR that has not come to where the leader's epoch begins.",
        "isr-uncounted": "A leader leaves out a member of the ISR that the controller has decided in its leader epoch.",
        "isr-overtaken": "A broker joined the ISR by a proposal that was made for an earlier partition epoch.",
        "isr-inactive": "A broker joined the ISR that is fenced, or in controlled shutdown.",
        "isr-epoch": "A broker joined the ISR by fetches of an earlier broker epoch (KIP-903).",
        "leader-partition-epoch": "A leader went back to an earlier partition epoch, while its leader epoch stayed.",
        "log-matching": "A follower appended behind records that its leader does not have, or has otherwise (KIP-101).",
    },
    "Logs": {
        "epochs": "A batch has another leader epoch than the log remembers for its offset.",
        "epoch-order": "The leader epochs that a log remembers, or the offsets at which they begin, do not ascend.",
        "epoch-entry": "A leader epoch begins at another offset, as the log remembers it, than its first batch.",
        "epoch-end": "A log returns an end of a leader epoch that is not the start of the next one, or the log end.",
        "producers": (
            "A log remembers of a producer what the producer's batches do not say: its epoch, its last sequence "
            "numbers, its transaction."
        ),
        "transactions": "The transactions that a log remembers as open are not those that its batches leave open.",
        "stable": (
            "The last stable offset is not where the first undecided transaction begins, or not the high watermark "
            "if that is lower."
        ),
    },
    "Cleaner and retention": {
        "cleaned-above": "The cleaner took a record that is in the active segment, or above the last stable offset.",
        "cleaned-latest": "The cleaner took the latest committed record of a key.",
        "cleaned-tombstone": (
            "The cleaner took a tombstone before `delete.retention.ms` had passed since a run had seen it first."
        ),
        "compaction-overdue": (
            "A compacted log is dirtier than `min.cleanable.dirty.ratio`, and is not cleaned for several "
            "`log.cleaner.backoff.ms`."
        ),
        "retention-overdue": (
            "A segment that is older than `retention.ms` stays, though its broker has looked for such several times."
        ),
    },
    "Transactions": {
        "transaction-life": "A transactional id came to a state that cannot follow the one that it was in.",
        "transaction-start": "A transaction that is not complete got another start time.",
        "transaction-partitions": "A partition is no longer part of a transaction that is not complete.",
        "transaction-epoch": "The producer epoch of a transactional id fell.",
        "transaction-producer": (
            "A transactional id got another producer id in the middle of a transaction, or in an epoch above 0."
        ),
        "transaction-fence": (
            "A coordinator ended a transaction by itself and left its producer epoch, so its producer is not fenced."
        ),
        "transaction-markers": "A transaction is complete, and still open at the leader of one of its partitions.",
        "transaction-again": ("A repeated EndTxn was refused although the transaction had been completed in that way."),
        "transaction-overdue": "A transaction is ongoing after its timeout, and nothing keeps it from being aborted.",
    },
    "Groups and offsets": {
        "generation": "The generation of a group fell.",
        "group-state": "A group came to a state that cannot follow the one that it was in.",
        "group-protocol": "A group chose a protocol that one of its members does not support.",
        "group-leader": "The leader of a group is none of its members.",
        "group-empty": "A group is Empty, and has members.",
        "assignment": "A group became Stable with an assignment that its leader has not sent.",
        "assignment-response": "A member received an assignment that no member sent for it in that generation.",
        "member-dropped": (
            "A member was removed that has not left, was not silent for its session timeout, and missed no rebalance."
        ),
        "commit-fenced": "A coordinator took a commit of another generation, of no member, or without a member's name.",
        "synced-epoch": "A mirror committed an offset with a later leader epoch than its partition is in.",
        "offset-committed": "A coordinator holds another committed offset than its log says.",
        "offset-pending": "A coordinator holds other offsets of open transactions than its log says.",
        "offset-removed": (
            "A committed offset was removed without a request, before it expired, while its topic existed."
        ),
    },
    "Producers": {
        "producer-epoch": "A producer sent a batch of an earlier epoch than one before.",
        "producer-gap": "The sequence numbers of a producer have a gap, or do not begin with 0 in an epoch.",
        "producer-renumbered": "A producer sent a batch again with another sequence number.",
        "producer-reused": "A producer gave the sequence number of a batch to another one.",
        "producer-overlap": "Two different batches of a producer have sequence numbers in common.",
        "producer-acked": "A producer sent a batch again after it was acknowledged.",
        "producer-in-flight": "A producer has more than five batches for a partition under way.",
        "producer-leaders": "A producer sent to another leader while its request to the one before was not answered.",
        "delivery-twice": "An application received two results for one batch.",
        "delivery-late": "An application received the result of a batch too late, or never.",
    },
    "Fetches": {
        "session-unknown": "A fetch belongs to a session that no answer has begun (KIP-227).",
        "session-left": "A fetch uses a session that has ended, or whose last request was not answered.",
        "session-epoch": "A fetch has a session epoch that does not follow the one before.",
        "session-both": "A fetch asks for a partition, and forgets it in the same request.",
        "fetch-offset": "A consumer does not read on where the last answer ended.",
        "answer-unasked": "A fetch was answered with a partition that was not asked for.",
        "answer-below": "A fetch was answered with a batch that ends below the fetch offset.",
        "answer-above": (
            "A fetch was answered with records from above the high watermark, or the last stable offset for "
            "read_committed."
        ),
        "reader-order": "A consumer returned a record below its position, or not in the order of offsets.",
        "reader-stands": "A consumer does not go on, though there are records to read and nothing is out of order.",
    },
    "Mirroring: cuts": {
        "empty-above-0": "The cut in PREPARING left nothing of a log, and the log does not begin at 0 again (D56).",
        "cut-too-deep": "The cut in PREPARING took records that both clusters have, and that a stop had settled.",
        "copied-needlessly": "A mirror copies a log from scratch, though nothing in it is missing or wrong (D63, D64).",
        "deletions-missed": "A mirror goes on where offsets are missing, and tombstones may have gone with them (D64).",
        "mirrors-foreign": "MIRRORING began with records that the source does not have, and does not have cut.",
        "isr-uncut": "MIRRORING began while a member of the ISR has other records than its leader.",
        "last-mirrored-epoch": "MIRRORING began with the last mirrored epoch of the session before (D23).",
        "beyond-source": "A partition was mirrored beyond the high watermark of its source.",
        "unlike-source": "What was mirrored differs from what the source has.",
        "away-uncut": "A replica outside the ISR would come back with records that its leader does not have (D30).",
    },
    "Mirroring: lists of uncut replicas": {
        "cut-unlisted": "A leader cut its log before all replicas were listed for that cut (D30).",
        "list-rises": "A replica is listed for a smaller cut than the one that it still owes.",
        "not-demanded": "A leader does not demand the cut that a follower is listed for.",
        "demanded-less": "A leader demands a smaller cut of a follower than the one that it is listed for.",
        "demands-too-little": (
            "A follower that made each cut demanded of it would have records that its leader does not have."
        ),
        "admitted": "A follower may join the ISR, though it owes a cut.",
        "believed": "A follower counts as cut by what it fetched before its leader's own cut (D35).",
        "confirmed-early": "A follower counts as cut, and has records of a later epoch than the cut leaves.",
        "struck-off": "A replica was struck off the list before it confirmed its cut.",
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
        "state-not-kept": "At rest `__mirror_state` has another state or lineage than the leader of a partition (D68).",
        "below-lineage": "A partition was mirrored in a leader epoch below the one from which its lineage holds.",
        "copy-not-followed": "A mirror goes on, though its source has begun to copy its log from scratch (D69).",
        "source-offset": "A mirror takes its source's high watermark to be higher than it is.",
        "source-start": "A mirror takes its source's log to begin lower than it does.",
    },
    "Mirroring: stops": {
        "stop-epoch": "A partition has stopped before its leader had the later leader epoch that a stop needs (D36).",
        "stop-reset": "A stop is over, and the log does not end with its producer reset.",
        "stop-producers": "A stop is over, and the log remembers producers or open transactions.",
        "stop-tail": "A stop is over, and records are left above the offset at which it cuts.",
        "stop-settled": "A stop settled another last mirrored epoch than that of the last mirrored batch.",
        "stop-commits-aborted": "A stop committed a transaction that was aborted (D29).",
        "stop-commits-half": "A stop committed a transaction although the log lacks some of its records (D29).",
    },
    "Controllers": {
        "isr-members": "An ISR has a broker twice, or a broker that is no replica.",
        "leader-isr": "A partition is led by a broker outside its ISR.",
        "leader-inactive": "A partition is led by a broker that is no replica, not active, or has its log offline.",
        "leaderless": "A partition has no leader, though a member of its ISR may lead.",
        "partition-epoch": "A partition has changed, and its partition epoch did not rise.",
        "leader-epoch": "A leader epoch fell, or did not rise when the leader changed.",
        "unclean-isr": "A leader was elected from outside the ISR, and is not the only member of the new one.",
        "unclean-leader": "A leader was elected from outside the ISR, though a member of the ISR may lead.",
        "unclean-refused": (
            "A leader was elected from outside the ISR, though `unclean.leader.election.enable` is false."
        ),
        "eligible-unclean": "A broker that ended uncleanly is in an ISR, or eligible, as soon as it registers (D71).",
        "shutdown-leads": "The controller let a broker shut down while it led partitions.",
        "shutdown-unknown": "The controller let a broker shut down before all brokers knew that it led no partition.",
        "directory": "At rest, a controller does not know in which log directory a broker has a log (KIP-858).",
        "other-image": "A broker, or a controller that started again, has read another image than the controller had.",
    },
    "Answers": {
        "refused-written": "A leader refused a batch as out of order that it has, and remembers.",
        "answer-order": "The requests of a connection are answered in another order than they came in.",
        "unanswered": "A controller does not answer a request, though all records in its log are committed.",
        "answer-rows": "An answer is about other topics, partitions or resources than its request.",
        "answer-code": "A topic to be added, removed, paused or resumed gets another error than its state calls for.",
        "answer-active": "A topic was added to a mirror, though one of its partitions has not stopped yet (D6).",
        "answer-partitions": "CreateTopics refused a number of partitions that is right, or took one that is not.",
        "answer-configs": "DescribeConfigs returned configs or synonyms that were not requested, or omitted some.",
    },
    "Syncs": {
        "refresh-late": "A broker wants to know more of a mirror's source, and does not ask as soon as it may.",
        "mirror-assignments": "A broker does not follow `mirror.name` of a topic, as its image has it.",
        "stopped-early": "A topic was stopped before its source had lacked it twice in a row (D16).",
        "synced-again": "A sync reported its recovery without having reported a problem.",
        "config-flaps": "A config was removed from a mirrored topic again, though the source had it all the time.",
        "synced-unmirrored": "A sync altered a topic that was not mirrored at the time (D75).",
        "stopped-outdated": "A topic was stopped as deleted, though its source had had it for 15 s (D60).",
        "created-outdated": "A mirror created a topic with an id that its source had not had for 15 s (D60).",
        "config-outdated": "A mirror gave a config a value that its source had not had for 15 s (D60).",
        "offset-outdated": "A mirror committed an offset of a group from a broker that coordinated it no more (D60).",
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
        "late-timer": "A node set a timer to a time that is over.",
        "two-snapshots": "A node writes two snapshots of the metadata log at once.",
    },
}
"""Subject to its rules, each with one sentence that describes the violation."""

RULES: Mapping[str, str] = {name: text for rules in BY_SUBJECT.values() for name, text in rules.items()}
