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


def of_client(
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
    asked, run = context.broker.requester.counts(link), links.get(link)
    if asked is None or run is None:
        return
    tags = (str(broker_id), str(number), str(context.broker.node_id), str(mirror))
    for name, value in (*_totals(asked, run, now, uses_sasl=source.uses_sasl), *_others(asked, run, now)):
        yield gauge(row(CLIENT, name, *CLIENT_TAGS), value, *tags)


def _totals(asked: ClientCounts, run: LinkCounts, now: Instant, *, uses_sasl: bool) -> Iterator[tuple[str, float]]:
    """Yield the totals, each with its rate; with SASL the node, and not the runner, counts authentications."""
    taken = asked.authenticated if uses_sasl else run.secured
    counted: tuple[tuple[str, tuple[Sensor, ...]], ...] = (
        ("connection-creation", (run.opened,)),
        ("connection-close", (run.closed,)),
        ("successful-authentication", (taken,)),
        ("failed-authentication", (asked.failed_authentications, run.not_secured)),
        ("successful-reauthentication", (asked.reauthenticated,)),
        ("failed-reauthentication", (asked.failed_reauthentications,)),
        ("network-io", (run.operations,)),
        ("select", (run.wakeups,)),
        ("request", (asked.requests,)),
        ("response", (asked.responses,)),
    )
    for name, sensors in counted:
        yield f"{name}-rate", sum(sensor.count_per_second(now) for sensor in sensors)
        yield f"{name}-total", sum(sensor.count for sensor in sensors)
    for name, sizes in (("outgoing-byte", asked.requests), ("incoming-byte", asked.responses)):
        yield f"{name}-rate", sizes.total_per_second(now)
        yield f"{name}-total", sizes.total
    yield "successful-authentication-no-reauth-total", taken.count


def _others(asked: ClientCounts, run: LinkCounts, now: Instant) -> Iterator[tuple[str, float]]:
    yield "connection-count", run.opened.count - run.closed.count
    for name, values in (("request-size", asked.requests), ("reauthentication-latency", asked.reauthenticated)):
        yield f"{name}-avg", values.mean(now)
        yield f"{name}-max", values.most(now)
