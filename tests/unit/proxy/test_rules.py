"""A file of rules: the effect of each word, and errors for invalid words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.hooks.actions import Action, Close, Delay, Drop, Hold, RespondWithError, Slow, Throttle
from kmirror.hooks.hooks import Hooks
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.proxy.rules import add_rules, parse_rules, read_rules
from kmirror.spec.error_codes import ErrorCode

MOVED = ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('error = "NOT_LEADER_OR_FOLLOWER"', RespondWithError(MOVED, MOVED.text, False)),
        ('error = "NOT_LEADER_OR_FOLLOWER"\nmessage = "gone"\napplied = true', RespondWithError(MOVED, "gone", True)),
        ("delay_ms = 500", Delay(500_000, False)),
        ("delay_ms = 0.5\napplied = true", Delay(500, True)),
        ("hold = true", Hold(False)),
        ("hold = true\napplied = true", Hold(True)),
        ("drop = true", Drop(False)),
        ("drop = true\napplied = true", Drop(True)),
        ('disconnect = "before"', Close(False)),
        ('disconnect = "after"', Close(True)),
        ("throttle_ms = 100", Throttle(100)),
        ("bytes_per_s = 1000", Slow(1000)),
    ],
)
def test_a_rule_is_translated_to_its_action(text: str, action: Action) -> None:
    _, rules = parse_rules(tomllib.loads(f'[[rule]]\napi = "Produce"\n{text}'))
    (rule,) = add_rules(Hooks(), rules)
    assert rule.hook is not None and rule.hook.action == action
    assert rule.hook.criteria.request is ProduceRequest


def test_a_rule_is_translated_to_its_criteria() -> None:
    text = """
        seed = 5
        [[rule]]
        api = "fetch"
        versions = "4-11"
        client_id = "c"
        topic = "orders"
        partition = 3
        node = 2
        nth = 4
        every = 5
        times = 6
        probability = 0.25
        drop = true
    """
    seed, rules = parse_rules(tomllib.loads(text))
    (rule,) = add_rules(Hooks(seed), rules)
    assert seed == 5 and rule.hook is not None
    found = rule.hook.criteria
    assert found.request is FetchRequest
    assert (found.versions, found.client_id, found.topic, found.partition) == ((4, 11), "c", "orders", 3)
    assert (found.node, found.nth, found.every, found.times, found.probability) == (2, 4, 5, 6, 0.25)


@pytest.mark.parametrize(("value", "versions"), [("3", (3, 3)), ('"3"', (3, 3)), ('"0-8"', (0, 8))])
def test_versions(value: str, versions: tuple[int, int]) -> None:
    _, rules = parse_rules(tomllib.loads(f"[[rule]]\nversions = {value}\ndrop = true"))
    (rule,) = add_rules(Hooks(), rules)
    assert rule.hook is not None and rule.hook.criteria.versions == versions


def test_a_rule_reports_its_matches() -> None:
    _, rules = parse_rules(tomllib.loads('[[rule]]\napi = "Fetch"\ndrop = true\n[[rule]]\napi = "Produce"\ncap = 8'))
    assert [str(rule) for rule in add_rules(Hooks(), rules)] == [
        "rule 1 (api = Fetch, drop = True): applied 0 times",
        "rule 2 (api = Produce, cap = 8)",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rule = 3", "each rule must be a [[rule]] table"),
        ("sed = 3", "unknown key 'sed': use seed and [[rule]]"),
        ("seed = -3", "seed must be an integer"),
        ("[[rule]]\ntopics = 'a'\ndrop = true", "rule 1: unknown key 'topics'; did you mean"),
        ("[[rule]]\ndrop = true\n[[rule]]\napi = 'Fetch'", "rule 2: a rule needs exactly one of error, delay_ms"),
        ("[[rule]]\ndrop = true\nhold = true", "rule 1: a rule needs exactly one of .*, this one has hold and drop"),
        ("[[rule]]\nhold = false", "rule 1: hold must be true"),
        ("[[rule]]\ndrop = 1", "rule 1: drop must be true or false, not 1"),
        ("[[rule]]\nerror = 'NOT_LEADER'", "rule 1: unknown error 'NOT_LEADER'; did you mean"),
        ("[[rule]]\nerror = 6", "rule 1: unknown error 6"),
        ("[[rule]]\nerror = 'NONE'", "rule 1: NONE is not an error"),
        ("[[rule]]\napi = 3\ndrop = true", "rule 1: api must be the name of an API"),
        ("[[rule]]\napi = 'Produced'\ndrop = true", "rule 1: no API is named 'Produced'"),
        ("[[rule]]\ndisconnect = true", 'rule 1: disconnect must be "before" or "after" (the broker acts), not True'),
        ("[[rule]]\ndisconnect = 'after'\napplied = true", "rule 1: applied cannot be combined with disconnect"),
        ("[[rule]]\nversions = '8-'\ndrop = true", "rule 1: versions must be a range such as"),
        ("[[rule]]\nversions = true\ndrop = true", "rule 1: versions must be a range such as"),
        ("[[rule]]\npartition = 1\ndrop = true", "rule 1: partition needs topic"),
        ("[[rule]]\nnth = 0\ndrop = true", "rule 1: nth must be an integer from 1 on"),
        ("[[rule]]\ndelay_ms = 'a'", "rule 1: ms must be a number of milliseconds"),
        ("[[rule]]\ncap = 3", "rule 1: cap needs the name of an API"),
        ("[[rule]]\napi = 'Fetch'\ncap = 3\ntimes = 1", "rule 1: cap applies to all requests: remove times"),
        ("[[rule]]\napi = 'Fetch'\nrelease = '2.8'", "rule 1: release applies to all requests: remove api"),
        ("[[rule]]\nrelease = '0.8'", "rule 1: release must be one of"),
    ],
)
def test_invalid_rules_are_refused_with_file_and_reason(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_rules(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert_matches(str(caught.value), reason)


def assert_matches(text: str, pattern: str) -> None:
    for part in pattern.split(".*"):
        assert part in text, text


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_rules(tmp_path / "none.toml")
    (tmp_path / "broken.toml").write_bytes(b"[[rule]")
    with pytest.raises(UsageError, match="is not TOML"):
        read_rules(tmp_path / "broken.toml")
