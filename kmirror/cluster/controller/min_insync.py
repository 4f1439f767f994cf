"""`min.insync.replicas` with eligible leader replicas (ConfigurationControlManager, D71).

The controller uses it to decide which replicas are eligible. It is therefore in the metadata log, for all brokers and
never for a single one, so that no restart with another properties file changes it. A change clears the eligible
replicas: with another value leaders may have committed records that those replicas lack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.cluster.images import MetadataImage
from kmirror.protocol.gen.clear_elr_record import ClearElrRecord
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import ResourceType

KEY = "min.insync.replicas"


def cluster_wide_record(value: int) -> ConfigRecord:
    """Return the record that sets this value for all brokers."""
    return ConfigRecord(resource_type=ResourceType.BROKER, resource_name="", name=KEY, value=str(value))


def unifying_records(image: MetadataImage, static: int) -> list[Message]:
    """Return the records that make the value the same for all brokers: the cluster-wide value, or else `static`."""
    records: list[Message] = (
        [] if KEY in image.configs.get((ResourceType.BROKER, ""), {}) else [cluster_wide_record(static)]
    )
    for name in image.configs.names(ResourceType.BROKER):
        if name and KEY in image.configs[ResourceType.BROKER, name]:
            records.append(ConfigRecord(resource_type=ResourceType.BROKER, resource_name=name, name=KEY, value=None))
    return records


def clearing_records(image: MetadataImage, records: Sequence[Message]) -> list[Message]:
    """Return the records that clear the eligible replicas if `records` change the value."""
    if not image.features.has_eligible_replicas:
        return []
    return [
        ClearElrRecord(topic_name=record.resource_name if record.resource_type == ResourceType.TOPIC else "")
        for record in records
        if isinstance(record, ConfigRecord)
        and record.name == KEY
        and record.resource_type in (ResourceType.BROKER, ResourceType.TOPIC)
    ]


def problem_with(image: MetadataImage, broker: str, changes: Mapping[str, str | None]) -> str | None:
    """Return Kafka's error message if these changes are not allowed for a broker ("" for all brokers), or None."""
    if not image.features.has_eligible_replicas or KEY not in changes:
        return None
    if broker:
        return f"Broker-level {KEY} cannot be altered while ELR is enabled."
    return f"Cluster-level {KEY} cannot be removed while ELR is enabled." if changes[KEY] is None else None
