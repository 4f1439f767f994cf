"""IncrementalAlterConfigs at the controller: the operations, the errors, and the new values' effect."""

from __future__ import annotations

import pytest

from kmirror.cluster.controller.controller import Controller
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.spec.error_codes import ErrorCode
from tests.unit.cluster.stage import RIGHTS, TP, controller

SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
TOPIC, BROKER, MIRROR = 2, 4, 64
Row = tuple[str, int, str | None]


def resource(kind: int, name: str, *rows: Row) -> AlterConfigsResource:
    configs = [AlterableConfig(name=key, config_operation=operation, value=value) for key, operation, value in rows]
    return AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)


def alter(c: Controller, *resources: AlterConfigsResource, validate_only: bool = False) -> list[tuple[ErrorCode, str]]:
    request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    reply = c.decide(0, request, 2, RIGHTS)
    assert isinstance(reply, IncrementalAlterConfigsResponse)
    assert [(r.resource_type, r.resource_name) for r in reply.responses] == [
        (r.resource_type, r.resource_name) for r in resources
    ], "one answer for each resource, in the order asked"
    return [(ErrorCode(row.error_code), row.error_message or "") for row in reply.responses]


def alter_one(c: Controller, kind: int, name: str, *rows: Row) -> tuple[ErrorCode, str]:
    return alter(c, resource(kind, name, *rows))[0]


def create_mirror(c: Controller, **configs: str | None) -> tuple[ErrorCode, str]:
    values: dict[str, str | None] = {"bootstrap.servers": "a:1"}
    values.update({key.replace("_", "."): value for key, value in configs.items()})
    rows = [MirrorConfig(name=key, value=value) for key, value in values.items()]
    reply = c.decide(0, CreateMirrorRequest(mirror_name="m", config=rows), 0, RIGHTS)
    assert isinstance(reply, CreateMirrorResponse)
    return ErrorCode(reply.error_code), reply.error_message or ""


@pytest.fixture
def c() -> Controller:
    made = controller(topic=(1, 2, 3))
    assert create_mirror(made)[0] is ErrorCode.NONE
    return made


BROKEN_MIRROR_VALUES = [
    ("bootstrap.servers", "a:1,nowhere"),
    ("bootstrap.servers", ""),
    ("mirror.groups.include", "ok,("),
    ("mirror.topic.properties.exclude", "["),
    ("mirror.acl.include", "TOPIC;a;READ;ALLOW;User:a;x;y"),
    ("mirror.acl.include", "a;b;c"),
    ("request.timeout.ms", "0"),
    ("mirror.groups.clamp", "maybe"),
    ("no.such.key", "1"),
    ("source.cluster.id", ""),
]


@pytest.mark.parametrize(("name", "value"), BROKEN_MIRROR_VALUES)
def test_altering_refuses_the_same_configs_as_create_mirror(c: Controller, name: str, value: str) -> None:
    offset = c.image.offset
    altered = alter_one(c, MIRROR, "m", (name, SET, value))
    assert altered[0] is ErrorCode.INVALID_CONFIG
    assert c.image.offset == offset
    fresh = controller()
    assert create_mirror(fresh, **{name.replace(".", "_"): value}) == altered, "in the same words"


def test_a_null_is_no_value_of_a_mirror(c: Controller) -> None:
    fresh = controller()
    assert create_mirror(fresh, request_timeout_ms=None) == (
        ErrorCode.INVALID_CONFIG,
        "Null value not supported for mirror configs: request.timeout.ms",
    )
    assert create_mirror(fresh, bootstrap_servers=None)[0] is ErrorCode.INVALID_CONFIG
    for kind, name, key in (
        (MIRROR, "m", "request.timeout.ms"),
        (TOPIC, TP.topic, "retention.ms"),
        (BROKER, "", "min.insync.replicas"),
    ):
        for operation in (SET, APPEND, SUBTRACT):
            assert alter_one(c, kind, name, (key, operation, None)) == (
                ErrorCode.INVALID_REQUEST,
                f"Null value not supported for : {key}",
            )


@pytest.mark.parametrize(
    ("kind", "name", "key", "value"),
    [
        (MIRROR, "m", "request.timeout.ms", "1234"),
        (MIRROR, "m", "mirror.groups.clamp", "true"),
        (MIRROR, "m", "mirror.groups.include", "a"),
        (MIRROR, "m", "sasl.mechanism", "PLAIN"),
        (TOPIC, TP.topic, "retention.ms", "5"),
        (TOPIC, TP.topic, "unclean.leader.election.enable", "true"),
        (BROKER, "1", "min.insync.replicas", "2"),
        (BROKER, "", "unclean.leader.election.enable", "true"),
    ],
)
def test_every_config_can_be_deleted(c: Controller, kind: int, name: str, key: str, value: str) -> None:
    before = {resource: dict(values) for resource, values in c.image.configs.items()}
    assert alter_one(c, kind, name, (key, SET, value)) == (ErrorCode.NONE, "")
    assert c.image.configs[kind, name][key] == value
    assert alter_one(c, kind, name, (key, DELETE, None)) == (ErrorCode.NONE, "")
    assert c.image.configs == before
    assert alter_one(c, kind, name, (key, DELETE, "ignored"), ("no.such.key", DELETE, None)) == (ErrorCode.NONE, "")
    assert c.image.configs == before, "what is not there is deleted already"


def test_required_configs_of_a_mirror_cannot_be_deleted(c: Controller) -> None:
    error, message = alter_one(c, MIRROR, "m", ("bootstrap.servers", DELETE, None))
    assert (error, message) == (
        ErrorCode.INVALID_CONFIG,
        'Missing required configuration "bootstrap.servers" which has no default value.',
    )
    assert alter_one(c, MIRROR, "m", ("bootstrap.servers", SUBTRACT, "a:1"))[0] is ErrorCode.INVALID_CONFIG
    assert c.image.configs[MIRROR, "m"]["bootstrap.servers"] == "a:1"
    assert alter_one(c, TOPIC, TP.topic, ("mirror.name", DELETE, None))[0] is ErrorCode.INVALID_CONFIG


def test_values_are_appended_to_and_subtracted_from_lists(c: Controller) -> None:
    def policy() -> str | None:
        return c.image.configs.topic(TP.topic).get("cleanup.policy")

    assert alter_one(c, TOPIC, TP.topic, ("cleanup.policy", APPEND, "compact")) == (ErrorCode.NONE, "")
    assert policy() == "delete,compact", "the default was what there was"
    offset = c.image.offset
    assert alter_one(c, TOPIC, TP.topic, ("cleanup.policy", APPEND, "compact,delete")) == (ErrorCode.NONE, "")
    assert (policy(), c.image.offset) == ("delete,compact", offset), "twice is as once"
    assert alter_one(c, TOPIC, TP.topic, ("cleanup.policy", SUBTRACT, "delete,none")) == (ErrorCode.NONE, "")
    assert policy() == "compact"
    assert alter_one(c, TOPIC, TP.topic, ("cleanup.policy", APPEND, "shred"))[0] is ErrorCode.INVALID_CONFIG
    assert alter_one(c, TOPIC, TP.topic, ("retention.ms", APPEND, "5")) == (
        ErrorCode.INVALID_CONFIG,
        "Can't APPEND to key retention.ms because its type is not LIST.",
    )
    assert alter_one(c, MIRROR, "m", ("bootstrap.servers", APPEND, "b:2")) == (ErrorCode.NONE, "")
    assert c.image.configs[MIRROR, "m"]["bootstrap.servers"] == "a:1,b:2"
    assert alter_one(c, MIRROR, "m", ("bootstrap.servers", APPEND, "nowhere"))[0] is ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("kind", "name", "rows", "error", "message"),
    [
        (
            TOPIC,
            TP.topic,
            [("retention.ms", SET, "-5")],
            ErrorCode.INVALID_CONFIG,
            "Invalid value -5 for configuration retention.ms: Value must be at least -1",
        ),
        (TOPIC, "", [], ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed."),
        (
            TOPIC,
            "",
            [("retention.ms", SET, "-5"), ("nope", APPEND, "a")],
            ErrorCode.INVALID_CONFIG,
            "Can't APPEND to key nope because its type is not LIST.",
        ),
        (
            TOPIC,
            "nope",
            [("retention.ms", SET, "5")],
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'nope' does not exist.",
        ),
        (
            TOPIC,
            TP.topic,
            [("retention.ms", SET, "5"), ("retention.ms", SET, "6")],
            ErrorCode.INVALID_REQUEST,
            "Error due to duplicate config keys",
        ),
        (TOPIC, TP.topic, [("retention.ms", 9, "5")], ErrorCode.INVALID_REQUEST, "Unknown operations type 9"),
        (9, "x", [], ErrorCode.INVALID_REQUEST, "Unknown resource type 9"),
        (
            BROKER,
            "1",
            [("broker.heartbeat.interval.ms", SET, "5")],
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [broker.heartbeat.interval.ms]",
        ),
        (
            BROKER,
            "",
            [("request.timeout.ms", SET, "5"), ("num.partitions", SET, "5")],
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [num.partitions, request.timeout.ms]",
        ),
        (
            BROKER,
            "",
            [("min.insync.replicas", SET, "0")],
            ErrorCode.INVALID_REQUEST,
            "Invalid value 0 for configuration min.insync.replicas: Value must be at least 1",
        ),
        (BROKER, "x", [], ErrorCode.INVALID_REQUEST, "Unable to parse broker name as a base 10 number."),
        (BROKER, "9" * 5000, [], ErrorCode.INVALID_REQUEST, "Unable to parse broker name as a base 10 number."),
        (BROKER, "-1", [], ErrorCode.INVALID_REQUEST, "Invalid negative broker ID."),
        (
            BROKER,
            "77",
            [("min.insync.replicas", SET, "2")],
            ErrorCode.BROKER_ID_NOT_REGISTERED,
            "No node with id 77 found.",
        ),
        (MIRROR, "x", [("request.timeout.ms", SET, "5")], ErrorCode.UNKNOWN_MIRROR, "Mirror 'x' does not exist."),
    ],
)
def test_errors_have_kafkas_messages(
    c: Controller, kind: int, name: str, rows: list[Row], error: ErrorCode, message: str
) -> None:
    offset = c.image.offset
    assert alter_one(c, kind, name, *rows) == (error, message)
    assert c.image.offset == offset


def test_resources_succeed_or_fail_independently(c: Controller) -> None:
    good = resource(TOPIC, TP.topic, ("retention.ms", SET, "5"))
    bad = resource(BROKER, "", ("min.insync.replicas", SET, "2"), ("message.max.bytes", SET, "x"))
    errors = [error for error, _ in alter(c, bad, good, resource(MIRROR, "m", ("request.timeout.ms", SET, "9")))]
    assert errors == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE, ErrorCode.NONE]
    assert (BROKER, "") not in c.image.configs, "a resource is altered whole or not at all"
    assert c.image.configs.topic(TP.topic)["retention.ms"] == "5"
    twice = alter(c, good, good)
    assert twice == [(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")] * 2
    offset = c.image.offset
    assert alter(c, resource(TOPIC, TP.topic, ("retention.ms", SET, "7")), validate_only=True)[0][0] is ErrorCode.NONE
    assert c.image.offset == offset


@pytest.mark.decision("D1")
def test_without_the_feature_there_are_no_mirrors_to_alter() -> None:
    c = controller(mirror_version=0)
    error, message = alter_one(c, MIRROR, "m", ("request.timeout.ms", SET, "5"))
    assert error is ErrorCode.UNSUPPORTED_VERSION and "mirror.version=0" in message


def test_the_controller_reads_its_own_configs_before_everybodys_before_its_file() -> None:
    c = controller(configs={"unclean.leader.election.enable": "false"})

    def unclean() -> bool:
        return c.context.configs.flag("unclean.leader.election.enable")

    assert not unclean()
    alter_one(c, BROKER, "", ("unclean.leader.election.enable", SET, "true"))
    assert unclean()
    alter_one(c, BROKER, "100", ("unclean.leader.election.enable", SET, "false"))
    assert not unclean()
    alter_one(c, BROKER, "1", ("unclean.leader.election.enable", SET, "true"))
    assert not unclean(), "another node's is none of ours"
    alter_one(c, BROKER, "100", ("unclean.leader.election.enable", DELETE, None))
    assert unclean()
