"""Summary of a history as one object of plain values: a line of `-o json`, a row of a Spark sweep.

seed, profile     seed and profile of the plan
exit, verdict     the exit code, and its name: clean, crash, safety, liveness
anomalies         a list of {checker, cluster, topic, partition, offset, text, at_us}; topic is "" and partition -1
                  for an anomaly without a partition; offset and at_us are -1 if not given
accepted          a list of {decision, cluster, topic, partition, records}: losses that the KIP accepts
crash             the traceback of an exception inside a node, or ""
steps             number of operator steps and faults in the plan
acked, read       number of records acknowledged by leaders, and read by consumers
digest            the same plan gives the same digest
events            number of events of the simulated world
virtual_seconds   from the first event to the last observation
plan              the whole plan, as `--plan` takes it, if the history failed; else null
coverage          only with --coverage: row of kmirror.histories.coverage to the number of times it was reached
"""

from __future__ import annotations

import json
from typing import Any

from kmirror.histories.verdict import Exit, Outcome
from kmirror.kernel.ids import TopicPartition

CRASH = "crash"
"""Name of a crash in lists of findings, where anomalies have the names of their checkers."""


def as_row(outcome: Outcome) -> dict[str, Any]:
    """Return the object described in the module docstring."""
    account = outcome.account
    coverage = {"coverage": outcome.coverage} if outcome.coverage else {}
    return {
        "seed": outcome.plan.seed,
        "profile": outcome.plan.profile,
        "exit": int(outcome.exit),
        "verdict": outcome.exit.name.lower(),
        "anomalies": [
            {
                "checker": row.checker, "cluster": row.cluster, **_place(row.tp), "offset": row.offset,
                "text": row.text, "at_us": row.at,
            }
            for row in outcome.anomalies
        ],
        "accepted": [
            {"decision": row.decision, "cluster": row.cluster, **_place(row.tp), "records": row.records}
            for row in outcome.accepted
        ],
        "crash": account.crash,
        "steps": len(outcome.plan.steps),
        "acked": len(account.acks),
        "read": len(account.reads),
        "digest": outcome.digest,
        "events": outcome.events,
        "virtual_seconds": outcome.virtual_seconds,
        "plan": None if outcome.exit is Exit.CLEAN else json.loads(outcome.plan.to_json()),
        **coverage,
    }  # fmt: skip


def findings(row: dict[str, Any]) -> list[str]:
    """Return the names of a row's findings without duplicates: a crash first, then checkers in the order of the
    anomalies.
    """
    names = [CRASH] if row["crash"] else []
    return list(dict.fromkeys(names + [anomaly["checker"] for anomaly in row["anomalies"]]))


def worst(codes: list[int]) -> Exit:
    """Return the exit code of several histories: the lowest that is not CLEAN."""
    return Exit(min((code for code in codes if code != Exit.CLEAN), default=Exit.CLEAN))


def _place(tp: TopicPartition | None) -> dict[str, Any]:
    return {"topic": "", "partition": -1} if tp is None else {"topic": tp.topic, "partition": tp.partition}
