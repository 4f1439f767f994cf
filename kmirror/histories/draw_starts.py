"""Addition of rare starts of a topic's mirror to a drawn plan.

The source's log begins above 0 and its topic is flushed after some records, so that followers of the first copy start
with an empty log above 0; or a client of the destination creates the topic before the mirror does (D26).
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.histories.plan import Plan, Step, Value
from kmirror.histories.profiles import Profile
from kmirror.kernel.rng import Rng


def with_starts(rng: Rng, row: Profile, plan: Plan) -> Plan:
    """Return the plan with such starts, each by chance of the profile."""
    if any(step.action == "add" for step in plan.steps):
        if rng.chance(row.starts_above_0, 100):
            plan = _above_0(rng.split("above 0"), plan)
        if rng.chance(row.created_early, 100):
            plan = _created_early(rng.split("created"), plan)
    return plan


def _added_step(rng: Rng, plan: Plan) -> int:
    """Return the index of one of the steps that add topics to a mirror."""
    return rng.choice([index for index, step in enumerate(plan.steps) if step.action == "add"])


def _above_0(rng: Rng, plan: Plan) -> Plan:
    """Return the plan with records deleted at the source before a topic is added."""
    index = _added_step(rng, plan)
    at_ms, args = plan.steps[index].at_ms, plan.steps[index].args
    steps = list(plan.steps)
    for topic in str(args["topics"]).split(","):
        topic_args: dict[str, Value] = {"cluster": args["source"], "topic": topic}
        value = rng.choice(("1", "3", "10"))
        steps.insert(index, Step(at_ms, "alter_topic", {**topic_args, "name": "flush.messages", "value": value}))
        for partition in (0, 1):
            offset = rng.choice((-1, rng.between(1, 20)))
            steps.insert(index, Step(at_ms, "delete_records", {**topic_args, "partition": partition, "offset": offset}))
    return replace(plan, steps=tuple(steps))


def _created_early(rng: Rng, plan: Plan) -> Plan:
    """Return the plan with a topic created at the destination right after it was added to a mirror."""
    index = _added_step(rng, plan)
    at_ms, args = plan.steps[index].at_ms, plan.steps[index].args
    topic_args: dict[str, Value] = {"cluster": args["destination"], "topic": str(args["topics"]).partition(",")[0]}
    created = Step(at_ms, "create_topic", {**topic_args, "partitions": rng.between(1, 2)})
    return replace(plan, steps=(*plan.steps[: index + 1], created, *plan.steps[index + 1 :]))
