"""Rows of facts that nodes report: cuts of mirrored logs and their reasons, states and wishes, opened logs."""

from __future__ import annotations

from kmirror.histories.coverage.row import Origin, Row

CUTS = (
    ("no-lme", r"^no LME", "A mirror begins, and the source has nothing of the log, which is removed."),
    ("lme", r"^LME \d+", "A failback cuts to the last mirrored epoch."),
    ("lso", r"^LSO$", "A stop cuts to the last stable offset."),
    ("diverging", r"^diverging epoch", "The logs of source and mirror diverge."),
    ("source-end", r"^the source's log end", "The source's log is shorter."),
    ("source-start", r"^the source's log start", "The source's log begins later than ours ends."),
    ("missed", r"^a cut to epoch -?\d+ that this replica missed", "A new leader performs a cut that it had missed."),
    ("nothing-in-common", r"with nothing in common", "The whole log is removed."),
)
"""Kinds of LogCut.why, each with a pattern for it and a sentence."""

ROWS: tuple[Row, ...] = (
    *(Row(f"cut.{name}", doc, Origin.FACT, pattern=pattern) for name, pattern, doc in CUTS),
    Row("cut.many-segments", "A leader cuts a mirrored log by more than one segment.", Origin.FACT),
    Row("cut.follower-many-segments", "A follower cuts its log by more than one segment.", Origin.FACT),
    Row("log.compacted-records", "The cleaner removes a record.", Origin.FACT),
    Row("log.compacted-tombstones", "The cleaner removes a tombstone.", Origin.FACT),
    Row("log.rolled", "A leader's log gets another segment.", Origin.FACT),
    Row("load.clean", "A broker opens logs after a clean shutdown.", Origin.FACT),
    Row("load.unclean", "A broker opens logs after an unclean shutdown.", Origin.FACT),
    Row("load.repaired", "A log is repaired when it is opened: its tail is torn.", Origin.FACT),
    Row("load.repaired-segments", "A repair removes whole segments.", Origin.FACT),
)
