"""Admin requests that are refused: about things that do not exist, exist already, or are not allowed."""

from __future__ import annotations

from kmirror.assembly.mirrors import (
    add_topics_request,
    pause_topics_request,
    remove_topics_request,
    resume_topics_request,
)
from kmirror.histories.request_client import NO_MIRROR, NO_TOPIC, RequestClient, RequestKind
from kmirror.histories.scripts import Script
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.alter_configs_request import AlterableConfig as LegacyConfig
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest
from kmirror.protocol.gen.alter_configs_request import AlterConfigsResource as LegacyResource
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.spec.releases import NOT_SERVED
from kmirror.spec.wire_values import USE_DEFAULT, ConfigOp, ResourceType

NO_CONFIG = "no.such.config"


def _configs(client: RequestClient) -> Script[None]:
    """Set a config that does not exist."""
    topic = client.topic()
    row = LegacyResource(
        resource_type=ResourceType.TOPIC, resource_name=topic, configs=[LegacyConfig(name=NO_CONFIG, value="1")]
    )
    yield from client.send(AlterConfigsRequest(resources=[row], validate_only=True))
    if client.application.scene.last_version(client.cluster, "IncrementalAlterConfigs") > NOT_SERVED:
        config = AlterableConfig(name=NO_CONFIG, config_operation=ConfigOp.SET, value="1")
        changed = AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=topic, configs=[config])
        yield from client.send(IncrementalAlterConfigsRequest(resources=[changed], validate_only=True))


def _partitions(client: RequestClient) -> Script[None]:
    """Add a partition with an empty assignment."""
    topic = client.topic()
    known = client.image.topics.get(topic)
    count = 1 if known is None else len(known.partitions) + 1
    row = CreatePartitionsTopic(name=topic, count=count, assignments=[])
    yield from client.send(CreatePartitionsRequest(topics=[row], timeout_ms=1_000, validate_only=True))


def _topics(client: RequestClient) -> Script[None]:
    """Create a topic with the default number of partitions, a valid number, or an invalid one."""
    count = client.rng.choice((USE_DEFAULT, USE_DEFAULT, 3, 0, -2))
    row = CreatableTopic(name=NO_TOPIC, num_partitions=count, replication_factor=USE_DEFAULT)
    yield from client.send(CreateTopicsRequest(topics=[row], timeout_ms=1_000, validate_only=True))


def _features(client: RequestClient) -> Script[None]:
    row = FeatureUpdateKey(feature="no.such.feature", max_version_level=1)
    yield from client.send(UpdateFeaturesRequest(timeout_ms=1_000, feature_updates=[row], validate_only=True))


def _mirror_topics(client: RequestClient) -> Script[None]:
    """Change a topic that does not exist, or a mirror that does not exist."""
    mirror, topic = client.mirror(), NO_TOPIC
    if mirror == NO_MIRROR:
        topic = client.topic()
    orders = [
        remove_topics_request(mirror, [topic]),
        pause_topics_request(mirror, [topic]),
        resume_topics_request(mirror, [topic]),
    ]
    if mirror == NO_MIRROR:
        orders.append(add_topics_request(mirror, {topic: Uuid.ZERO}))
    yield from client.send(client.rng.choice(orders))


def _removed_topics(client: RequestClient) -> Script[None]:
    """Add topics that were removed from a mirror, and may not be STOPPED yet, to a mirror that does not exist."""
    image = client.image
    wishes = {name: parse(image.configs.topic(name).get(MIRROR_NAME, "")) for name in sorted(image.topics)}
    removed = [name for name, found in wishes.items() if found is not None and found.wish is Wish.REMOVE]
    if removed:
        topics = dict.fromkeys((NO_TOPIC, *removed), Uuid.ZERO)
        yield from client.send(add_topics_request(NO_MIRROR, topics))


REQUEST_KINDS: tuple[RequestKind, ...] = (
    RequestKind("wrong configs", "orders", _configs),
    RequestKind("partitions on no broker", "orders", _partitions),
    RequestKind("topics", "orders", _topics),
    RequestKind("unknown feature", "orders", _features, 1),
    RequestKind("removed topics", "orders", _removed_topics, 4),
    RequestKind("topics of a mirror", "orders", _mirror_topics, 4),
)
