"""Config entries for DescribeConfigs: the value of each key, its source and its synonyms.

A broker key has the value of the first layer that sets it: dynamic config of this broker, dynamic default of all
brokers, properties file, Kafka's default. A key that a topic does not set has the value of a broker key. These are the
rules of ConfigHelper in Kafka 4.3.1. A topic's synonyms begin at the first value of its own broker key, so that
`retention.ms` does not name `log.retention.hours`, although that key supplies the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kmirror.cluster.images import MetadataImage
from kmirror.kernel import java
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResourceResult, DescribeConfigsSynonym
from kmirror.spec.configs import BOUNDS, ConfigKey, Configs, Kind, Scope, config_keys, default_of
from kmirror.spec.configs.lists import BLANKS, split_entries
from kmirror.spec.secrets import is_secret
from kmirror.spec.wire_values import ConfigSource, ConfigType, ResourceType

Entry = DescribeConfigsResourceResult
TYPES: Mapping[Kind, ConfigType] = {kind: ConfigType[kind.name] for kind in Kind}


@dataclass(frozen=True, slots=True)
class BrokerLayers:
    """Configs of a broker by source; each mapping takes precedence over the following ones."""

    dynamic: Mapping[str, str]
    """Dynamic configs of this broker alone."""
    dynamic_default: Mapping[str, str]
    static: Mapping[str, str]
    _synonyms: dict[str, list[DescribeConfigsSynonym]] = field(default_factory=dict, compare=False, repr=False)

    def synonyms(self, name: str) -> list[DescribeConfigsSynonym]:
        """Return the values of a broker key and of its fallback keys, in order of precedence.

        Callers share the list and must not change it; it is cached because every topic reads the same keys.
        """
        found = self._synonyms.get(name)
        if found is None:
            found = self._synonyms[name] = self._find(name)
        return found

    def _find(self, name: str) -> list[DescribeConfigsSynonym]:
        rows = _with_fallbacks(name)
        layers = (
            (ConfigSource.BROKER, self.dynamic),
            (ConfigSource.CLUSTER, self.dynamic_default),
            (ConfigSource.STATIC, self.static),
            (ConfigSource.DEFAULT, {row.name: row.default for row in rows if row.default is not None}),
        )
        found = [
            DescribeConfigsSynonym(
                name=key, value=None if is_secret(key, (Scope.BROKER,)) else values[key], source=source
            )
            for source, values in layers
            for key in (row.name for row in rows)
            if key in values
        ]
        own = next((position for position, synonym in enumerate(found) if synonym.name == name), len(found))
        return found[own:]

    def value(self, name: str) -> str | None:
        """Return the configured value of a key, or its own default; None if there is neither."""
        row = config_keys(Scope.BROKER).get(name)
        for layer in (self.dynamic, self.dynamic_default, self.static):
            if name in layer:
                return layer[name]
        return None if row is None else row.default


def layers_of(image: MetadataImage, node_id: int, static: Mapping[str, str]) -> BrokerLayers:
    """Return the configs of a node by source; stored values of keys that are not dynamic are skipped."""
    rows = config_keys(Scope.BROKER)
    dynamic, dynamic_default = (
        {
            key: value
            for key, value in image.configs.get((ResourceType.BROKER, name), {}).items()
            if key in rows and rows[key].dynamic
        }
        for name in (str(node_id), "")
    )
    return BrokerLayers(dynamic, dynamic_default, static)


def _with_fallbacks(name: str) -> list[ConfigKey]:
    """Return the row of a broker key and those of its fallback keys."""
    rows = config_keys(Scope.BROKER)
    row = rows.get(name, ConfigKey(name, Scope.BROKER, Kind.PASSWORD, None, ""))
    found = [row]
    while row.fallback is not None:
        row = rows[row.fallback[0]]
        found.append(row)
    return found


def format_value(row: ConfigKey, text: str | None) -> str | None:
    """Return a value as Kafka formats it after parsing (`ConfigDef.convertToString`); None for a secret."""
    if text is None or row.kind is Kind.PASSWORD:
        return None
    text = text.strip(BLANKS)
    if row.kind in BOUNDS:
        return str(int(text))
    if row.kind is Kind.DOUBLE:
        return java.double(float(text.rstrip("dDfF")))
    if row.kind is Kind.BOOLEAN:
        return text.lower()
    return ",".join(split_entries(text, are_patterns=row.holds_patterns)) if row.kind is Kind.LIST else text


def broker_entries(layers: BrokerLayers, *, mirror: bool) -> list[Entry]:
    """Return the configs of one broker, by name; with `mirror` those of KIP-1279 too.

    An unknown key in the properties file is returned as a secret of unknown type.
    """
    entries = []
    for row in config_keys(Scope.BROKER).values():
        if (row.internal and row.name not in layers.static) or (row.is_mirroring_key and not mirror):
            continue
        value = layers.value(row.name)
        synonyms = layers.synonyms(row.name)
        entries.append(_entry(row, value if row.internal else format_value(row, value), synonyms, row.dynamic))
    for name in layers.static.keys() - config_keys(Scope.BROKER).keys():
        synonyms = layers.synonyms(name)
        entries.append(Entry(name, None, True, config_source=synonyms[0].source, is_sensitive=True, synonyms=synonyms))
    return _by_name(entries)


def cluster_entries(layers: BrokerLayers) -> list[Entry]:
    """Return the dynamic defaults of all brokers, by name; the cluster has no other configs."""
    entries = []
    for name, value in layers.dynamic_default.items():
        row = config_keys(Scope.BROKER)[name]
        synonyms = [synonym for synonym in layers.synonyms(name) if synonym.source == ConfigSource.CLUSTER]
        entries.append(_entry(row, None if row.kind is Kind.PASSWORD else value, synonyms, row.dynamic))
    return _by_name(entries)


def topic_entries(topic: Mapping[str, str], broker: Configs, layers: BrokerLayers, *, mirror: bool) -> list[Entry]:
    """Return the configs of a topic with the settings `topic`, by name, on a broker with these configs."""
    entries = []
    for row in config_keys(Scope.TOPIC).values():
        if row.hidden or (row.internal and row.name not in topic) or (row.is_mirroring_key and not mirror):
            continue
        own = topic.get(row.name)
        inherited = default_of(row) if row.broker_key is None else broker.text(row.broker_key)
        value = (
            own if row.internal else format_value(row, inherited if own is None else own)
        )  # Internal keys are not parsed.
        synonyms = [] if row.broker_key is None else layers.synonyms(row.broker_key)
        if own is not None:
            synonyms = [DescribeConfigsSynonym(name=row.name, value=value, source=ConfigSource.TOPIC), *synonyms]
        entries.append(_entry(row, value, synonyms, is_alterable=True))
    return _by_name(entries)


def mirror_entries(values: Mapping[str, str]) -> list[Entry]:
    """Return the configs of a mirror with the settings `values`, by name, including those of its client.

    The KIP does not define a config source for mirrors.
    """
    rows = [row for row in config_keys(Scope.MIRROR).values() if not row.hidden]
    names = [row.name for row in rows] + [name for name in values if name not in config_keys(Scope.MIRROR)]
    client = config_keys(Scope.BROKER)  # TLS and SASL keys have the same names for brokers and clients.
    entries = []
    for name in names:
        secret = ConfigKey(name, Scope.MIRROR, Kind.PASSWORD, None, "")
        row = config_keys(Scope.MIRROR).get(name) or client.get(name) or secret
        own = values.get(name)
        value = format_value(row, row.default if own is None else own)
        synonyms = (
            [DescribeConfigsSynonym(name=name, value=value, source=ConfigSource.UNKNOWN)] if own is not None else []
        )
        if row.default is not None:
            synonyms.append(DescribeConfigsSynonym(name=name, value=row.default, source=ConfigSource.DEFAULT))
        entries.append(_entry(row, value, synonyms, is_alterable=True))
    return _by_name(entries)


def _entry(row: ConfigKey, value: str | None, synonyms: list[DescribeConfigsSynonym], is_alterable: bool) -> Entry:
    return Entry(
        name=row.name,
        value=value,
        read_only=not is_alterable,
        config_source=synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        is_sensitive=row.kind is Kind.PASSWORD,
        synonyms=synonyms,
        config_type=TYPES[row.kind],
        documentation=row.doc or (row.no_effect and f"Changes nothing here: {row.no_effect}.") or None,
    )


def _by_name(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.name)
