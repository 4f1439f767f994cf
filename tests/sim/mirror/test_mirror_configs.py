"""A mirror's configs are altered while it runs, and described without secrets (D3, D16, D17)."""

from __future__ import annotations

import pytest

from kmirror.errors import KafkaError
from kmirror.kernel.events import InboundLink
from kmirror.mirror.configs import SOURCE_CLUSTER_ID
from kmirror.protocol.gen.alter_configs_request import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from kmirror.protocol.gen.alter_configs_response import AlterConfigsResponse
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import TOPIC, Pair, WrittenLogs, assert_equal, pair, plain

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}
SECRETS = {
    "sasl.jaas.config": "username=u password=hush",
    "ssl.key.password": "hush",
    "ssl.keystore.password": "hush",
    "ssl.truststore.password": "hush",
    "ssl.keystore.key": "hush",
    "sasl.oauthbearer.client.credentials.client.secret": "hush",
}


def start_mirror() -> Pair:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    return p


def links(p: Pair) -> set[InboundLink]:
    """Return the mirror's open links at the source; a reopened link is another one."""
    found = (name for b in p.a.broker_ids for name in p.a.broker(b).parts.server.links.by_name)
    return {name for name in found if "mirror-m" in str(name)}


def values(p: Pair) -> dict[str, str]:
    return dict(p.b.image.configs[ResourceType.MIRROR, "m"])


@pytest.mark.kip("1279", "Mirror Configuration")
@pytest.mark.parametrize(
    ("key", "value"),
    [("ssl.truststore.location", "/t.jks"), ("sasl.jaas.config", "x y;"), ("security.protocol", "PLAINTEXT")],
)
def test_a_changed_connection_config_reconnects_without_loss(key: str, value: str) -> None:
    p = start_mirror()
    before = links(p)
    assert before
    p.there.alter({key: value})
    p.a.write("meanwhile")
    p.simulation.run_for(span_s=2)
    assert links(p) and not links(p) & before
    assert_equal(p.there)
    assert p.cuts_of(p.b) == []


@pytest.mark.parametrize(
    ("key", "value"), [("mirror.groups.include", "a.*"), ("request.timeout.ms", "7000"), ("mirror.acl.include", "*")]
)
def test_other_configs_take_effect_on_the_existing_connection(key: str, value: str) -> None:
    p = start_mirror()
    before = links(p)
    p.there.alter({key: value})
    p.simulation.run_for(span_s=2)
    assert links(p) >= before
    timeouts = {p.b.component(b).context.sources["m"].timeout_ms for b in p.b.broker_ids}
    assert timeouts == {7000 if key == "request.timeout.ms" else 30_000}


def test_a_deleted_config_has_its_default_again() -> None:
    p = start_mirror()
    p.there.alter({"mirror.groups.include": "a.*"})
    assert values(p)["mirror.groups.include"] == "a.*"
    p.there.alter({"mirror.groups.include": None})
    assert "mirror.groups.include" not in values(p)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("mirror.groups.include", "a(", "Not a regular expression"),
        ("bootstrap.servers", "a:1,b", "Invalid url in bootstrap.servers: b"),
        ("bootstrap.servers", None, "Missing required configuration"),
        ("mirror.nope", "1", "Unknown mirror config name: mirror.nope"),
        ("source.cluster.id", "x", "managed by the mirror APIs"),
        ("security.protocol", "TLS", "String must be one of (case insensitive): PLAINTEXT, SSL"),
        ("security.protocol", "sasl_ssl", "sasl.mechanism is not set: set it to one of PLAIN, SCRAM-SHA-256"),
    ],
)
def test_a_value_that_is_no_good_alters_nothing(key: str, value: str | None, words: str) -> None:
    p = start_mirror()
    before = values(p)
    with pytest.raises(KafkaError, match="INVALID_CONFIG") as caught:
        p.there.alter({key: value, "request.timeout.ms": "7000"})
    assert words in str(caught.value)
    assert values(p) == before


@pytest.mark.decision("D16")
def test_the_old_request_replaces_all_configs_except_stored_state() -> None:
    p = start_mirror()
    p.there.alter({"mirror.groups.include": "a.*"})
    remembered = values(p)[SOURCE_CLUSTER_ID]

    def alter(*pairs: tuple[str, str], name: str = "m") -> ErrorCode:
        configs = [AlterableConfig(name=key, value=value) for key, value in pairs]
        resource = AlterConfigsResource(resource_type=ResourceType.MIRROR, resource_name=name, configs=configs)
        reply = p.b.client.call(p.b.endpoint(1), AlterConfigsRequest(resources=[resource]), 2)
        assert isinstance(reply, AlterConfigsResponse)
        return ErrorCode(reply.responses[0].error_code)

    servers = ("bootstrap.servers", p.a.bootstrap_servers)
    assert alter(servers, ("request.timeout.ms", "9000")) is ErrorCode.NONE
    assert values(p) == dict([servers, ("request.timeout.ms", "9000"), (SOURCE_CLUSTER_ID, remembered)])
    assert alter(("request.timeout.ms", "9000")) is ErrorCode.INVALID_CONFIG, "a mirror has servers"
    assert alter(servers, name="n") is ErrorCode.UNKNOWN_MIRROR


@pytest.mark.kip("1279", "Mirror Configuration")
def test_secrets_are_described_without_their_values() -> None:
    p = pair()
    p.there.create(
        {**SECRETS, "ssl.keystore.location": "/k.jks", "sasl.nobody.knows": "hush", "sasl.mechanism": "PLAIN"}
    )
    p.simulation.run_for(span_s=1)
    resource = DescribeConfigsResource(ResourceType.MIRROR, "m", None)
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    reply = p.b.client.call(p.b.endpoint(1), request, 5)
    assert isinstance(reply, DescribeConfigsResponse)
    rows = {row.name: row for row in reply.results[0].configs}
    for name in (*SECRETS, "sasl.nobody.knows"):
        assert rows[name].is_sensitive and rows[name].value is None, name
        assert all(synonym.value is None for synonym in rows[name].synonyms), name
    assert (rows["ssl.keystore.location"].value, rows["ssl.keystore.location"].is_sensitive) == ("/k.jks", False)
    assert (rows["sasl.mechanism"].value, rows["sasl.mechanism"].is_sensitive) == ("PLAIN", False)
    assert "hush" not in str(reply)
