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
    counted: Histogram | None = None
    """The source of a histogram's attributes; else None."""


def gauge(of: MetricRow, value: float, *tags: str) -> Sample:
    """Return a sample with a single value."""
    return Sample(of, tags, {of.name if of.is_attribute else VALUE: value})


def meter(of: MetricRow, counted: Meter, now: Instant, *tags: str) -> Sample:
    """Return a meter's count and its rates per second."""
    rates = zip(MINUTES, counted.rates(now), strict=True)
    return Sample(of, tags, {COUNT: counted.count, **{_RATES[minutes]: rate for minutes, rate in rates}})


def histogram(of: MetricRow, counted: Histogram, *tags: str) -> Sample:
    """Return a histogram's count, bounds, mean and quantiles."""
    bounds = {"Min": counted.minimum, "Max": counted.maximum, "Mean": counted.mean}
    quantiles = zip(QUANTILES, counted.quantiles(QUANTILES.values()), strict=True)
    return Sample(of, tags, {COUNT: counted.count, **bounds, **dict(quantiles)}, counted)


def merged(samples: Iterable[Sample]) -> list[Sample]:
    """Combine the samples of nodes in one process: like Kafka, a process has one meter for both of its nodes."""
    found: dict[tuple[MetricRow, tuple[str, ...]], Sample] = {}
    for sample in samples:
        key = sample.row, sample.tags
        before = found.get(key)
        found[key] = sample if before is None else _combine(before, sample)
    return list(found.values())


def _combine(one: Sample, other: Sample) -> Sample:
    if one.counted is not None and other.counted is not None:
        return histogram(one.row, one.counted.merge(other.counted), *one.tags)
    assert one.row.kind is Kind.METER, f"two nodes report {one.row.mbean(one.tags)}"
    return Sample(one.row, one.tags, {name: value + other.attributes[name] for name, value in one.attributes.items()})
