"""Explanations why something is mirrored or not: the rule that decided is named."""

from __future__ import annotations

import pytest

from kmirror.client.remote_cluster import RemoteTopic
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import Wish
from kmirror.mirror.syncs.explain import explain
from kmirror.mirror.syncs.rules import ListedGroup, Rules, Verdict
from kmirror.mirror.syncs.topics import TopicFacts
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.error_codes import ErrorCode

ID, OTHER = Uuid(b"i" * 16), Uuid(b"o" * 16)
DEFAULTS = Rules.from_configs(Configs(Scope.MIRROR, {}))
BROKER = Configs(Scope.BROKER, {})


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("retention.ms", None),
        ("cleanup.policy", None),
        ("min.insync.replicas", "mirror.topic.properties.exclude=min.insync.replicas"),
        ("message.timestamp.type", "mirror.topic.properties.exclude=message.timestamp.type"),
        (
            "leader.replication.throttled.replicas",
            "mirror.topic.properties.exclude=leader.replication.throttled.replicas",
        ),
        ("mirror.name", "mirror.* is this cluster's own"),
        ("mirror.support.unclean.leader.election", "mirror.* is this cluster's own"),
    ],
)
def test_by_default_the_kips_list_is_left_out(name: str, rule: str | None) -> None:
    verdict = DEFAULTS.config(name)
    assert (verdict.is_mirrored, None if verdict.is_mirrored else verdict.rule) == (rule is None, rule)


def test_a_pattern_has_to_match_the_whole_name() -> None:
    rules = Rules.from_configs(
        Configs(
            Scope.MIRROR, {"mirror.topic.properties.exclude": "retention,.*throttled.*", "mirror.groups.include": "app"}
        )
    )
    assert rules.config("retention.ms").is_mirrored
    assert not rules.config("leader.replication.throttled.replicas").is_mirrored
    assert not rules.config("mirror.name").is_mirrored, "whatever the list says"
    assert not rules.group(ListedGroup("app-1")).is_mirrored
    assert rules.group(ListedGroup("app")) == Verdict(True, "mirror.groups.include=app")


@pytest.mark.parametrize(
    ("group", "is_mirrored"),
    [
        (ListedGroup("g"), True),
        (ListedGroup("g", "consumer"), True),
        (ListedGroup("g", "consumer", "classic"), True),
        (ListedGroup("g", "consumer", "Classic"), True),
        (ListedGroup("g", "consumer", "Consumer"), True),
        (ListedGroup("g", "streams", "Streams"), False),
        (ListedGroup("g", "share", "share"), False),
        (ListedGroup("connect-cluster", "connect", "classic"), False),
    ],
)
def test_only_groups_of_consumers_are_copied(group: ListedGroup, is_mirrored: bool) -> None:
    assert DEFAULTS.group(group).is_mirrored is is_mirrored


def test_everything_is_explained_in_order() -> None:
    there = RemoteTopic(ID, 2)
    told = explain(
        DEFAULTS,
        [
            TopicFacts("t", Wish.MIRROR, there, there),
            TopicFacts("paused", Wish.PAUSE, there, there),
            TopicFacts("other", Wish.MIRROR, there, RemoteTopic(OTHER, 2)),
            TopicFacts("gone", Wish.MIRROR, None, there),
            TopicFacts("hidden", Wish.MIRROR, None, there, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ],
        "source",
        {
            "t": {
                "retention.ms": "5",
                "min.insync.replicas": "2",
                "from.the.future": "1",
                "remote.storage.enable": "true",
            }
        },
        [ListedGroup("g", "consumer"), ListedGroup("c", "connect")],
        BROKER,
    )
    assert list(told.topics) == ["gone", "hidden", "other", "paused", "t"]
    assert {name: verdict.is_mirrored for name, verdict in told.topics.items()} == {
        "gone": False, "hidden": False, "other": False, "paused": False, "t": True,
    }  # fmt: skip
    assert "TOPIC_AUTHORIZATION_FAILED" in told.topics["hidden"].rule
    of_t = told.configs["t"]
    assert [name for name, verdict in of_t.items() if verdict.is_mirrored] == ["retention.ms"]
    assert of_t["from.the.future"].rule == "this cluster rejects it: Unknown topic config name: from.the.future"
    assert "Tiered Storage" in of_t["remote.storage.enable"].rule
    assert [name for name, verdict in told.groups.items() if verdict.is_mirrored] == ["g"]
