"""Fixtures for pytest: a Kafka cluster per test, one for all tests, and two clusters with a mirror between them.

    @pytest.mark.kafka(brokers=3, topics={"orders": 6})
    def test_orders(kafka_cluster):
        Producer({"bootstrap.servers": kafka_cluster.bootstrap_servers})

pytest finds them wherever kmirror is installed. Options that the marker does not set come from the fixture
`kafka_cluster_options`, which a conftest.py may override. The report of a failing test shows the state of its clusters.

Every run of pytest imports this file, so the rest of kmirror is imported only when a fixture is used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kmirror.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from kmirror.net.cluster import TcpCluster
    from kmirror.testing.pairs import MirrorPair

MARKER = "kafka(**options): options of the test's `kafka_cluster` or `mirror_pair`, such as brokers=3, topics={'t': 6}"
SECTION = "Kafka cluster"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture(scope="session")
def kafka_cluster_options() -> dict[str, Any]:
    """Return the default options of all clusters; a test's marker has priority.

    A conftest.py may override this fixture.
    """
    return {}


@pytest.fixture
def kafka_cluster(request: pytest.FixtureRequest, kafka_cluster_options: dict[str, Any]) -> Iterator[TcpCluster]:
    """Yield a Kafka cluster for this test only."""
    from kmirror.testing.clusters import cluster

    with cluster(**_options(request, kafka_cluster_options, cluster)) as running_cluster:
        yield running_cluster


@pytest.fixture(scope="session")
def kafka_cluster_session(kafka_cluster_options: dict[str, Any]) -> Iterator[TcpCluster]:
    """Yield a Kafka cluster shared by all tests, which should use different topic and group names."""
    from kmirror.testing.clusters import cluster

    with cluster(**kafka_cluster_options) as running_cluster:
        yield running_cluster


@pytest.fixture
def mirror_pair(request: pytest.FixtureRequest, kafka_cluster_options: dict[str, Any]) -> Iterator[MirrorPair]:
    """Yield two Kafka clusters for this test only, and a mirror between them."""
    from kmirror.testing.pairs import mirror_pair as open_mirror_pair

    with open_mirror_pair(**_options(request, kafka_cluster_options, open_mirror_pair)) as pair:
        yield pair


def _options(request: pytest.FixtureRequest, common: dict[str, Any], factory: Callable[..., Any]) -> dict[str, Any]:
    """Return the options for a test's cluster; UsageError if the marker has an option unknown to `factory`."""
    marker = request.node.get_closest_marker("kafka")
    if marker is None:
        return common
    if marker.args:
        raise UsageError(f"pytest.mark.kafka needs options by name, such as brokers=3, not {marker.args[0]!r}")
    known = inspect.signature(factory).parameters
    for name in marker.kwargs:
        if name not in known:
            hint = did_you_mean(name, known) or f"options are {', '.join(known)}"
            raise UsageError(f"pytest.mark.kafka has no option {name!r}: {hint}")
    return {**common, **marker.kwargs}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the state of the clusters to the report of a failing test."""
    report = yield
    if report.when == "call" and report.failed:
        report.sections += [(SECTION, text) for text in _states(getattr(item, "funcargs", {}))]
    return report


def _states(fixtures: dict[str, Any]) -> Iterator[str]:
    if not {"kafka_cluster", "kafka_cluster_session", "mirror_pair"} & fixtures.keys():
        return
    from kmirror.testing.clusters import state_of

    for name in ("kafka_cluster", "kafka_cluster_session"):
        if name in fixtures:
            yield state_of(fixtures[name])
    if "mirror_pair" in fixtures:
        yield state_of(fixtures["mirror_pair"].source)
        yield state_of(fixtures["mirror_pair"].destination)
