"""Rates, means and maxima over two windows equal those of Kafka's client metrics.

`java -cp 'KAFKA/libs/*' tests/golden/kernel/Sensors.java > tests/data/metrics/kafka-sensor.json` records them again.
"""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any

import pytest

from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.sensor import Sensor

RUNS: list[list[list[Any]]] = json.loads(
    (Path(__file__).parents[2] / "data/metrics/kafka-sensor.json").read_text(encoding="utf-8")
)
START_MS = 1_700_000_000_000


@pytest.mark.parametrize("run", RUNS, ids=range(len(RUNS)))
def test_a_sensor_equals_kafkas(run: list[list[Any]]) -> None:
    sensor, values = Sensor(), []
    for ms, value, *wanted in run:
        now = (START_MS + ms) * MILLISECOND
        if value is not None:
            sensor.record(now, value)
            values.append(value)
        told = [sensor.count_per_second(now), sensor.total_per_second(now), sensor.mean(now), sensor.maximum(now)]
        assert told == pytest.approx([nan if number is None else number for number in wanted], nan_ok=True), ms
    assert (sensor.count, sensor.total) == (len(values), sum(values))
