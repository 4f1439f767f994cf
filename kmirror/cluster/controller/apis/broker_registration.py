"""BrokerRegistration, versions 0-4: register a broker, which is fenced until it has caught up (KIP-631).

The broker epoch is the offset of the registration record. A broker is rejected while another incarnation of its id has
a session, or if it does not support the current feature levels.

A broker sends the epoch in which its last process shut down cleanly. If that is not the epoch of its last registration,
there was an unclean shutdown, which may have lost records: the broker leaves every ISR and is not eligible (KIP-966).
"""

from __future__ import annotations

from kmirror.cluster.controller.context import Commit, ControllerContext
from kmirror.cluster.controller.elections import fence_records, unclean_records
from kmirror.cluster.controller.facts import BrokerRefused
from kmirror.cluster.controller.sessions import BrokerSessions
from kmirror.cluster.images import BrokerImage, MetadataImage
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.log.log_dirs import is_reserved
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest
from kmirror.protocol.gen.broker_registration_response import BrokerRegistrationResponse
from kmirror.protocol.gen.register_broker_record import BrokerEndpoint, BrokerFeature, RegisterBrokerRecord
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import FEATURES, METADATA_VERSION

PREVIOUS_EPOCH_FROM = 3
"""First version in which a broker sends the epoch of its last clean shutdown."""


def handle(
    context: ControllerContext,
    sessions: BrokerSessions,
    commit: Commit,
    now: Instant,
    inbound: Inbound[BrokerRegistrationRequest],
) -> None:
    """Register the broker and respond with its epoch.

    INCONSISTENT_CLUSTER_ID, INVALID_REGISTRATION, UNSUPPORTED_VERSION for the level of a feature, or
    DUPLICATE_BROKER_REGISTRATION if another incarnation is alive.
    """
    request = inbound.body
    if request.cluster_id != context.cluster_id:
        fact = BrokerRefused(request.broker_id, request.cluster_id, context.cluster_id)
        context.outbox.note(str(fact), fact)
        inbound.reply(BrokerRegistrationResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID))
        return
    if request.broker_id < 0 or not request.listeners:
        inbound.reply(BrokerRegistrationResponse(error_code=ErrorCode.INVALID_REGISTRATION))
        return
    if context.image.features.has_directories and _has_wrong_directories(context.image, request):
        inbound.reply(BrokerRegistrationResponse(error_code=ErrorCode.INVALID_REGISTRATION))
        return
    known = context.image.brokers.get(request.broker_id)
    if known is not None and not known.fenced and known.incarnation != request.incarnation_id:
        inbound.reply(BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION))
        return
    problem = _problem_with_features(context.image, request)
    if problem:
        inbound.reply(BrokerRegistrationResponse(error_code=problem))
        return
    records: list[Message] = []
    if (
        known is not None
        and context.image.features.has_eligible_replicas
        and _ended_uncleanly(known, request, inbound.version)
    ):
        context.outbox.note(f"broker {request.broker_id} ended uncleanly since it registered in epoch {known.epoch}")
        records += unclean_records(context.image, context.configs, request.broker_id)
    elif known is not None and not known.fenced:
        records += fence_records(context.image, context.configs, request.broker_id)
    epoch = context.next_offset() + len(records)
    records.append(
        RegisterBrokerRecord(
            broker_id=request.broker_id,
            incarnation_id=request.incarnation_id,
            broker_epoch=epoch,
            end_points=[
                BrokerEndpoint(name=row.name, host=row.host, port=row.port, security_protocol=row.security_protocol)
                for row in request.listeners
            ],
            features=[
                BrokerFeature(
                    name=row.name,
                    min_supported_version=row.min_supported_version,
                    max_supported_version=row.max_supported_version,
                )
                for row in request.features
            ],
            rack=request.rack,
            fenced=True,
            log_dirs=list(request.log_dirs) if context.image.features.has_directories else [],
        )
    )
    sessions.forget(request.broker_id)
    commit(now, records)
    inbound.reply(BrokerRegistrationResponse(broker_epoch=epoch))


def _ended_uncleanly(known: BrokerImage, request: BrokerRegistrationRequest, version: int) -> bool:
    """Return whether another incarnation was registered last, and may not have shut down cleanly."""
    if request.incarnation_id == known.incarnation:
        return False
    return version < PREVIOUS_EPOCH_FROM or request.previous_broker_epoch != known.epoch


def _has_wrong_directories(image: MetadataImage, request: BrokerRegistrationRequest) -> bool:
    """Return whether a broker has no log directory, a duplicate or reserved id, or a directory of another broker."""
    requested = set(request.log_dirs)
    if not requested or len(requested) < len(request.log_dirs) or any(is_reserved(each) for each in requested):
        return True
    other_brokers = (broker for number, broker in image.brokers.items() if number != request.broker_id)
    return any(not requested.isdisjoint(other.directories) for other in other_brokers)


def _problem_with_features(image: MetadataImage, request: BrokerRegistrationRequest) -> ErrorCode:
    """Return the error for the feature levels that a broker supports, or NONE; features unknown here are ignored."""
    supported = {row.name: range(row.min_supported_version, row.max_supported_version + 1) for row in request.features}
    if METADATA_VERSION not in supported:
        return ErrorCode.INVALID_REGISTRATION
    for row in FEATURES:
        level = image.features.get(row.name, 0)
        if level and level not in supported.get(row.name, ()):
            return ErrorCode.UNSUPPORTED_VERSION
    return ErrorCode.NONE
