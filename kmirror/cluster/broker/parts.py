"""The parts of one broker, for its request handlers and components.

A part never receives this object: its `__init__` lists the parts that it calls.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.broker.auto_creation import AutoCreation
from kmirror.cluster.broker.internal_topics import InternalTopics
from kmirror.cluster.broker.metadata_follower import MetadataFollower, Publish
from kmirror.cluster.broker.metadata_response_cache import MetadataResponseCache
from kmirror.cluster.broker.verification import DelayedRetries
from kmirror.cluster.component import Components
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.cluster.replication.assignments import DirectoryAssignments
from kmirror.cluster.replication.deletions import Deletions
from kmirror.cluster.replication.fetch_sessions import FetchSessions
from kmirror.cluster.replication.follower import ReplicaFetchers
from kmirror.cluster.replication.isr import IsrManager
from kmirror.cluster.replication.log_manager import LogManager
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.cluster.server import Server


@dataclass(frozen=True, slots=True)
class BrokerParts:
    """All parts of one broker."""

    context: BrokerContext
    server: Server
    components: Components
    lifecycle: Lifecycle
    metadata: MetadataFollower
    metadata_responses: MetadataResponseCache
    replicas: ReplicaManager
    isr: IsrManager
    deletions: Deletions
    fetchers: ReplicaFetchers
    logs: LogManager
    sessions: FetchSessions
    """Fetch sessions of followers and consumers of this broker."""
    internal_topics: InternalTopics
    auto_creation: AutoCreation
    delayed_retries: DelayedRetries


def build_parts(context: BrokerContext, publish: Publish) -> BrokerParts:
    """Return the parts of a new broker; `publish` is called with every change of the image."""
    server = Server(
        context.api_versions,
        context.disabled_versions,
        context.outbox,
        context.authorizer,
        failures=context.failures,
        clock=context.options.clock,
    )
    components = Components()
    lifecycle = Lifecycle(context)
    assignments = DirectoryAssignments(context, lifecycle)
    components.add(assignments)
    replicas = ReplicaManager(context, components, assignments)
    isr = IsrManager(context, lifecycle, replicas)
    components.add(isr)
    delayed_retries = DelayedRetries(context)
    components.add(delayed_retries)
    deletions = Deletions(context, replicas)
    components.add(deletions)
    fetchers = ReplicaFetchers(context, lifecycle, replicas)
    slots = context.configs.integer("max.incremental.fetch.session.cache.slots")
    return BrokerParts(
        context=context,
        server=server,
        components=components,
        lifecycle=lifecycle,
        metadata_responses=MetadataResponseCache(),
        metadata=MetadataFollower(context, lifecycle, server, replicas.opening.recovery, publish),
        replicas=replicas,
        isr=isr,
        deletions=deletions,
        fetchers=fetchers,
        logs=LogManager(context, components, replicas, fetchers),
        sessions=FetchSessions(context.rng.split("sessions"), slots),
        internal_topics=InternalTopics(context),
        auto_creation=AutoCreation(context),
        delayed_retries=delayed_retries,
    )
