"""A mirror's secrets: used towards its source, and shown nowhere; what the source does not take is told (D3, D38)."""

from __future__ import annotations

import pytest

from kmirror.assembly.journal.events import event_value, said
from kmirror.cluster.hooks.actions import Answer
from kmirror.errors import KafkaError
from kmirror.kernel.events import OpenLink
from kmirror.mirror.facts import SourceTrouble
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import TOPIC, Pair, WrittenLogs, assert_equal, pair, plain

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SECURED = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{PLAIN} required username="u" password="hush";',
    "ssl.truststore.type": "PEM",
    "ssl.truststore.certificates": "hush",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.key": "hush",
    "ssl.keystore.certificate.chain": "hush",
    "ssl.key.password": "hush",
}
