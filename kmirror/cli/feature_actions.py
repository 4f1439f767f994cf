"""Commands of `kmirror features`: requests to the cluster, and output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kmirror import __version__
from kmirror.admin.client import AsyncAdmin
from kmirror.cli.output import write_stderr
from kmirror.client.remote_cluster import code_of
from kmirror.errors import KafkaError, UsageError
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdateFeaturesResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import (
    METADATA_LATEST,
    METADATA_LEVELS,
    METADATA_VERSION,
    MIRROR_VERSION,
    RELEASED_FEATURES,
    ReleasedFeature,
    metadata_level,
)
from kmirror.spec.wire_values import UpgradeType

Levels = dict[str, int]
"""Feature to its level."""
_INT16: Final = re.compile(r"[+-]?[0-9]{1,9}")
_KNOWN_FEATURES: Final[Mapping[str, ReleasedFeature]] = {
    row.name: row
    # No release is formatted with mirror.version, which belongs to KIP-1279.
    for row in (*RELEASED_FEATURES, ReleasedFeature(MIRROR_VERSION, (min(METADATA_LEVELS), max(METADATA_LEVELS) + 1)))
}


# -- queries ----------------------------------------------------------------------------------


async def describe(admin: AsyncAdmin, node_id: int | None, *, as_json: bool) -> int:
    """Print each feature that a broker supports, with its level in the cluster; return 0."""
    if node_id is not None and node_id not in (brokers := await admin.brokers()):
        running = ", ".join(map(str, sorted(brokers)))
        raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"node {node_id} is not running; running brokers: {running}")
    reply = await admin.ask(ApiVersionsRequest("kmirror", __version__), broker_id=node_id)
    assert isinstance(reply, ApiVersionsResponse), "the answer to its request"
    levels = {row.name: row.max_version_level for row in reply.finalized_features}
    epoch = reply.finalized_features_epoch
    for row in sorted(reply.supported_features, key=lambda row: row.name):
        name, level = row.name, levels.get(row.name, 0)
        if as_json:
            fields = {"feature": name, "supported_min": row.min_version, "supported_max": row.max_version}
            print(json.dumps({**fields, "level": level, "epoch": epoch if epoch >= 0 else None}))
            continue
        print(
            f"Feature: {name:<40}  SupportedMinVersion: {_level_text(name, row.min_version):<15}  "
            f"SupportedMaxVersion: {_level_text(name, row.max_version):<15}  "
            f"FinalizedVersionLevel: {_level_text(name, level):<15}  Epoch: {epoch if epoch >= 0 else '-'}"
        )
    return 0


def _level_text(name: str, level: int) -> str:
    return METADATA_LEVELS.get(level, f"UNKNOWN {level}") if name == METADATA_VERSION else str(level)


def version_mapping(release: str | None) -> Iterator[str]:
    """Yield the lines with the levels that a release is formatted with; raise UsageError for an unknown release."""
    release_name = METADATA_LEVELS[METADATA_LATEST] if release is None else release
    level = metadata_version_of(release_name)
    yield f"metadata.version={level} ({release_name})"
    for row in RELEASED_FEATURES:
        yield f"{row.name}={row.level_at(level)}"


def dependencies(requested: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield the lines with the dependencies of feature levels; raise UsageError for unknown ones."""
    for name, level in requested:
        if name == METADATA_VERSION:
            if level not in METADATA_LEVELS:
                raise UsageError(f"Unknown metadata.version {level}")
            yield f"{name}={level} ({METADATA_LEVELS[level]}) has no dependencies."
            continue
        if name not in _KNOWN_FEATURES:
            raise UsageError(f"Unknown feature: {name}")
        if not 0 <= level < len(_KNOWN_FEATURES[name].metadata_levels):
            raise UsageError(f"No feature:{name} with feature level {level}")
        requirements = _KNOWN_FEATURES[name].requirements.get(level)
        if not requirements:
            yield f"{name}={level} has no dependencies."
            continue
        yield f"{name}={level} requires:"
        for other, required_level in requirements.items():
            yield f"    {other}={required_level}" + (
                f" ({METADATA_LEVELS[required_level]})" if other == METADATA_VERSION else ""
            )


def metadata_version_of(text: str) -> int:
    """Return the level of metadata.version for a name or a release; raise UsageError for an unknown one."""
    level = metadata_level(text)
    if level is None:
        names = ", ".join(METADATA_LEVELS.values())
        raise UsageError(f"Unknown metadata.version '{text}'. Supported metadata.version are: {names}")
    return level


# -- requested levels -------------------------------------------------------------------------


def levels_of_release(release: str, upgrade_type: UpgradeType) -> Levels:
    """Return the levels that a release is formatted with; an upgrade leaves out those that are 0."""
    level = metadata_version_of(release)
    levels = {METADATA_VERSION: level, **{row.name: row.level_at(level) for row in RELEASED_FEATURES}}
    return {name: value for name, value in levels.items() if value or upgrade_type is not UpgradeType.UPGRADE}


def parse_level(text: str) -> tuple[str, int]:
    """Return feature and level of a text such as mirror.version=1; raise UsageError, with Kafka's text, for others."""
    name, equals, level = (part.strip() for part in text.partition("="))
    if not equals:
        raise UsageError(f"Can't parse feature=level string {text}: equals sign not found.")
    if not _INT16.fullmatch(level) or not -(2**15) <= int(level) < 2**15:
        raise UsageError(f"Can't parse feature=level string {text}: unable to parse {level} as a short.")
    return name, int(level)


def merge_levels(pairs: Iterable[tuple[str, int]], upgrade_type: UpgradeType) -> Levels:
    """Return the levels by feature; raise UsageError for a repeated feature or an invalid level."""
    levels: Levels = {}
    for name, level in pairs:
        if name in levels:
            raise UsageError(f"Feature {name} was specified more than once.")
        if not name:
            raise UsageError("Provided feature can not be empty.")
        if level == 0 and upgrade_type is UpgradeType.UPGRADE:
            raise UsageError(
                "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the provided "
                f"maxVersionLevel:{level} is < 1: use downgrade or disable"
            )
        if level < 0:
            raise UsageError("Cannot specify a negative version level.")
        levels[name] = level
    return levels


async def update(
    admin: AsyncAdmin, action: str, levels: Levels, upgrade_type: UpgradeType, *, is_dry: bool, as_json: bool
) -> int:
    """Let the cluster change levels, all or none, and print each result; return 1 if one was refused."""
    rows = [FeatureUpdateKey(name, level, upgrade_type=upgrade_type) for name, level in levels.items()]
    reply = await admin.order(UpdateFeaturesRequest(feature_updates=rows, validate_only=is_dry))
    assert isinstance(reply, UpdateFeaturesResponse), "the answer to its request"
    errors: dict[str, tuple[int, str | None]] = {
        row.feature: (row.error_code, row.error_message) for row in reply.results
    }
    failed = 0
    for name in sorted(levels):
        code, message = errors.get(name, (0, None)) if not reply.error_code else (reply.error_code, reply.error_message)
        reason = (message or code_of(code).text) if code else None
        failed += bool(code)
        print(_outcome(action, name, levels[name], reason, is_dry=is_dry, as_json=as_json))
    if failed:
        write_stderr(f"{failed} out of {len(levels)} operation(s) failed.\n")
    return int(bool(failed))


def _outcome(action: str, name: str, level: int, reason: str | None, *, is_dry: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps({"action": action, "feature": name, "level": level, "error": reason, "dry_run": is_dry})
    target = "" if action == "disable" else f" to {level}"
    if reason is not None:
        return f"{'Can' if is_dry else 'Could'} not {action} {name}{target}. {reason}"
    return f"{name} {'can be' if is_dry else 'was'} {action}d{target}."
