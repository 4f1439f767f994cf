"""Metrics of the connections of mirror fetchers, the same as those of Kafka's network client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kmirror.client.client_counts import ClientCounts
from kmirror.cluster.metrics import Sample, gauge
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import OutboundLink
from kmirror.kernel.runner_metrics import LinkCounts
from kmirror.kernel.sensor import Sensor
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.fetchers import MirrorFetcher, MirrorFetchers
from kmirror.spec.metrics import CLIENT, CLIENT_TAGS, row


def client_samples(
    context: MirrorContext,
    fetchers: MirrorFetchers,
    fetcher: MirrorFetcher,
    now: Instant,
    links: Mapping[OutboundLink, LinkCounts],
) -> Iterator[Sample]:
    """Yield the metrics of a fetcher's connections, once it has one."""
    mirror, broker_id, number = fetcher.key
    source, link = context.sources.get(str(mirror)), fetchers.link(fetcher)
    if source is None or link is None:
        return
    client_counts, link_counts = context.broker.requester.counts(link), links.get(link)
    if client_counts is None or link_counts is None:
        return
    tags = (str(broker_id), str(number), str(context.broker.node_id), str(mirror))
    for name, value in (
        *_totals(client_counts, link_counts, now, uses_sasl=source.uses_sasl),
        *_other_values(client_counts, link_counts, now),
    ):
        yield gauge(row(CLIENT, name, *CLIENT_TAGS), value, *tags)


def _totals(
    client_counts: ClientCounts, link_counts: LinkCounts, now: Instant, *, uses_sasl: bool
) -> Iterator[tuple[str, float]]:
    """Yield the totals, each with its rate; with SASL the node, and not the runner, counts authentications."""
    successes = client_counts.authenticated if uses_sasl else link_counts.secured
    totals: tuple[tuple[str, tuple[Sensor, ...]], ...] = (
        ("connection-creation", (link_counts.opened,)),
        ("connection-close", (link_counts.closed,)),
        ("successful-authentication", (successes,)),
        ("failed-authentication", (client_counts.failed_authentications, link_counts.not_secured)),
        ("successful-reauthentication", (client_counts.reauthenticated,)),
        ("failed-reauthentication", (client_counts.failed_reauthentications,)),
        ("network-io", (link_counts.operations,)),
        ("select", (link_counts.wakeups,)),
        ("request", (client_counts.requests,)),
        ("response", (client_counts.responses,)),
    )
    for name, sensors in totals:
        yield f"{name}-rate", sum(sensor.count_per_second(now) for sensor in sensors)
        yield f"{name}-total", sum(sensor.count for sensor in sensors)
    for name, sizes in (("outgoing-byte", client_counts.requests), ("incoming-byte", client_counts.responses)):
        yield f"{name}-rate", sizes.total_per_second(now)
        yield f"{name}-total", sizes.total
    yield "successful-authentication-no-reauth-total", successes.count


def _other_values(client_counts: ClientCounts, link_counts: LinkCounts, now: Instant) -> Iterator[tuple[str, float]]:
    yield "connection-count", link_counts.opened.count - link_counts.closed.count
    for name, values in (
        ("request-size", client_counts.requests),
        ("reauthentication-latency", client_counts.reauthenticated),
    ):
        yield f"{name}-avg", values.mean(now)
        yield f"{name}-max", values.maximum(now)
