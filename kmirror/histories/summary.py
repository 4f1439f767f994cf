"""What is a history to a program? One object of plain values: a line of `-o json`, a row of a Spark sweep.

seed, profile     what drew the plan
exit, verdict     the exit code, and its name: clean, crash, safety, liveness
anomalies         a list of {checker, cluster, topic, partition, offset, text, at_us}; topic is "" and partition -1
                  where no partition is meant, offset and at_us are -1 where none is
accepted          a list of {decision, cluster, topic, partition, records}: losses that the KIP accepts
crash             the traceback of an exception inside a node, or ""
steps             operator steps and faults in the plan
acked, read       records that leaders acknowledged, and that consumers were given
digest            the same plan gives the same digest
events            of the simulated world
virtual_seconds   from the first event to the last look
plan              the whole plan, as `--plan` takes it, if the history failed; else null
coverage          with --coverage alone: name of a row of kmirror.histories.coverage to how often it was reached
"""

from __future__ import annotations

import json
from typing import Any

from kmirror.histories.verdict import Exit, Outcome
from kmirror.kernel.ids import TopicPartition

CRASH = "crash"
"""Stands for a crash where an anomaly stands by the name of its checker."""


def as_row(outcome: Outcome) -> dict[str, Any]:
    """Return the object that the module's docstring describes."""
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
    """Return the names of a row's findings, each once: checkers in the order of the anomalies, a crash first."""
    names = [CRASH] if row["crash"] else []
    return list(dict.fromkeys(names + [anomaly["checker"] for anomaly in row["anomalies"]]))


def worst(codes: list[int]) -> Exit:
    """Return the exit code of many histories: the lowest that is not CLEAN."""
    return Exit(min((code for code in codes if code != Exit.CLEAN), default=Exit.CLEAN))


def _place(tp: TopicPartition | None) -> dict[str, Any]:
    return {"topic": "", "partition": -1} if tp is None else {"topic": tp.topic, "partition": tp.partition}
