"""UpdateFeatures, versions 0-2: raise and lower feature levels at runtime.

All updates of a request are made or none. Rules and messages are those of Kafka's FeatureControlManager. Version 0 has
a flag for downgrades, which Kafka ignores. All registered brokers, fenced or not, must support a new level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kmirror.cluster.authorizer import CLUSTER, Rights, kafka_error_response
from kmirror.cluster.controller import min_insync
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.kernel.java import hash_of_text, in_hash_order
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.update_features_request import UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdatableFeatureResult, UpdateFeaturesResponse
from kmirror.protocol.message import Message
from kmirror.spec.configs import broker_configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import (
    ELIGIBLE_VERSION,
    FEATURES,
    FORMAT_LEVELS,
    METADATA_VERSION,
    changes_metadata,
    requirements_of,
)
from kmirror.spec.wire_values import AclOperation, UpgradeType

RESULTS_LAST = 1
"""Last version with a result for each feature."""

RejectionReason = Callable[[ControllerContext, str, int], str | None]
"""(context, feature, requested level) -> reason to reject a level that Kafka's rules allow, or None."""


def decide(
    context: ControllerContext, now: Instant, request: UpdateFeaturesRequest, version: int, rights: Rights
) -> Decision:
    """Return the new levels, or the first error, which applies to all features."""
    return decide_with(lambda _context, _name, _level: None, context, request, version, rights)


def decide_with(
    rejection_reason: RejectionReason,
    context: ControllerContext,
    request: UpdateFeaturesRequest,
    version: int,
    rights: Rights,
) -> Decision:
    """Return the decision; `rejection_reason` is called for every level that Kafka's rules allow."""
    denied = rights.error(AclOperation.ALTER, CLUSTER)
    if denied:
        return Decision((), kafka_error_response(request, version, denied))
    updates = {update.feature: update for update in request.feature_updates}
    proposed = {**context.image.features, **{name: update.max_version_level for name, update in updates.items()}}
    records: list[Message] = []
    if proposed.get(ELIGIBLE_VERSION, 0) > 0 and ELIGIBLE_VERSION in updates:
        static = broker_configs(context.static_configs, {}).integer(min_insync.KEY)
        records += min_insync.unifying_records(context.image, static)
    try:
        for name in in_hash_order(updates, hash_of_text):
            level = updates[name].max_version_level
            _check(context, name, level, updates[name].upgrade_type)
            _check_requirements(name, level, proposed)
            reason = rejection_reason(context, name, level)
            if reason is not None:
                raise _invalid(name, level, reason)
            records.append(FeatureLevelRecord(name=name, feature_level=level))
    except ApiError as error:
        message = f"The update failed for all features since the following feature had an error: {error}"
        return Decision((), UpdateFeaturesResponse(error_code=error.error, error_message=message))
    response = UpdateFeaturesResponse(error_message=None)
    if version <= RESULTS_LAST:
        response.results = [
            UpdatableFeatureResult(feature=update.feature, error_message=ErrorCode.NONE.name)
            for update in request.feature_updates
        ]
    return Decision(() if request.validate_only else records, response)


def _check(context: ControllerContext, name: str, level: int, upgrade_type: int) -> None:
    """Raise ApiError if a feature cannot change to this level with this upgrade type."""
    current = context.image.features.get(name, 0)
    if upgrade_type not in (UpgradeType.UPGRADE, UpgradeType.SAFE_DOWNGRADE, UpgradeType.UNSAFE_DOWNGRADE):
        raise _invalid(name, level, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _invalid(name, level, "A feature version cannot be less than 0.")
    for node, (first, last) in _supported_ranges(context, name):
        if not first <= level <= last:
            versions = first if first == last else f"{first}-{last}"
            text = f"only supports versions {versions}" if last else "does not support this feature."
            raise _invalid(name, level, f"{node} {text}")
    if name not in FORMAT_LEVELS and all(row.name != name for row in FEATURES):
        raise _invalid(name, level, f"Feature {name} not found.")
    if level < current and upgrade_type == UpgradeType.UPGRADE:
        text = "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
        raise _invalid(name, level, text + "downgrade.")
    if level > current and upgrade_type != UpgradeType.UPGRADE:
        raise _invalid(name, level, "Can't downgrade to a newer version.")
    if name == METADATA_VERSION and level < current and changes_metadata(level, current):
        if upgrade_type == UpgradeType.UNSAFE_DOWNGRADE:
            text = "Unsafe metadata downgrade is not supported in this version."
        else:
            text = "Refusing to perform the requested downgrade because it might delete metadata information."
        message = f"Unsupported metadata.version downgrade from {current} to {level}. {text}"
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION, message)


def _check_requirements(name: str, level: int, proposed: Mapping[str, int]) -> None:
    """Raise ApiError if a level needs another feature at a level that it will not have after the request."""
    for other, level_min in requirements_of(name, level).items():
        if proposed.get(other, 0) < level_min:
            text = f"{name} could not be set to {level} because it depends on {other} level {level_min}"
            raise _invalid(name, level, text)


def _supported_ranges(context: ControllerContext, name: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each node that must support a feature, with its minimum and maximum level; 0 and 0 if unsupported."""
    local_levels = next(((row.minimum, row.maximum) for row in FEATURES if row.name == name), (0, 0))
    yield f"Local controller {context.node_id}", local_levels
    for number, broker in sorted(context.image.brokers.items()):
        yield f"Broker {number}", broker.features.get(name, (0, 0))


def _invalid(name: str, level: int, message: str) -> ApiError:
    text = f"Invalid update version {level} for feature {name}. {message}"
    return ApiError(ErrorCode.INVALID_UPDATE_VERSION, text)
