"""Samples of a node's metrics, computed on demand from the state of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kmirror.kernel.clock import Instant
from kmirror.kernel.meters import MINUTES, Histogram, Meter
from kmirror.spec.metrics import Kind, MetricRow

VALUE = "Value"
COUNT = "Count"
QUANTILES: Mapping[str, float] = {
    "50thPercentile": 0.5,
    "75thPercentile": 0.75,
    "95thPercentile": 0.95,
    "98thPercentile": 0.98,
    "99thPercentile": 0.99,
    "999thPercentile": 0.999,
}
_RATES = {1: "OneMinuteRate", 5: "FiveMinuteRate", 15: "FifteenMinuteRate"}


class Sample(NamedTuple):
    """The current value of one metric with its tags."""

    row: MetricRow
    tags: tuple[str, ...]
    """Values of the row's tags, in the row's order."""
    attributes: Mapping[str, float]
    """Values by Kafka's attribute names: `Value` of a gauge, `Count` and rates of a meter, ..."""
    source: Histogram | None = None
    """The source of a histogram's attributes; else None."""


def gauge(metric: MetricRow, value: float, *tags: str) -> Sample:
    """Return a sample with a single value."""
    return Sample(metric, tags, {metric.name if metric.is_attribute else VALUE: value})


def meter(metric: MetricRow, source: Meter, now: Instant, *tags: str) -> Sample:
    """Return a meter's count and its rates per second."""
    rates = zip(MINUTES, source.rates(now), strict=True)
    return Sample(metric, tags, {COUNT: source.count, **{_RATES[minutes]: rate for minutes, rate in rates}})


def histogram(metric: MetricRow, source: Histogram, *tags: str) -> Sample:
    """Return a histogram's count, bounds, mean and quantiles."""
    bounds = {"Min": source.minimum, "Max": source.maximum, "Mean": source.mean}
    quantiles = zip(QUANTILES, source.quantiles(QUANTILES.values()), strict=True)
    return Sample(metric, tags, {COUNT: source.count, **bounds, **dict(quantiles)}, source)


def merge_samples(samples: Iterable[Sample]) -> list[Sample]:
    """Combine the samples of nodes in one process: like Kafka, a process has one meter for both of its nodes."""
    found: dict[tuple[MetricRow, tuple[str, ...]], Sample] = {}
    for sample in samples:
        key = sample.row, sample.tags
        before = found.get(key)
        found[key] = sample if before is None else _combine(before, sample)
    return list(found.values())


def _combine(one: Sample, other: Sample) -> Sample:
    if one.source is not None and other.source is not None:
        return histogram(one.row, one.source.merge(other.source), *one.tags)
    assert one.row.kind is Kind.METER, f"two nodes report {one.row.mbean(one.tags)}"
    return Sample(one.row, one.tags, {name: value + other.attributes[name] for name, value in one.attributes.items()})
