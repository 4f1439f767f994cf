"""Clusters for the clients, Kafka's and kmirror's, and every script's results at both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

from kmirror.net.cluster import TcpCluster
from tests.interop.clients.families import FAMILIES, CannotRun, run_script
from tests.interop.clients.proxied import Proxied, proxied_cluster
from tests.interop.clients.real import real_clusters, shared_configs

SIZES = (1, 3)
# Scripts mostly wait: for a session to end, a rebalance, the next poll.
AT_ONCE = 4


@dataclass(frozen=True)
class Seen:
    """A client's results at a Kafka cluster and at kmirror's."""

    kafka: dict[str, Any]
    kmirror: dict[str, Any]


@pytest.fixture(scope="session")
def kafka_addresses(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, str]]:
    """Yield the addresses of Kafka clusters, by their number of brokers."""
    with real_clusters(kafka_class_path, tmp_path_factory.mktemp("kafka-cluster"), SIZES) as addresses:
        yield addresses


@pytest.fixture(scope="session")
def our_clusters() -> Iterator[dict[int, TcpCluster]]:
    """Yield kmirror clusters by their number of brokers."""
    with ExitStack() as stack:
        yield {size: stack.enter_context(TcpCluster(brokers=size, configs=shared_configs(size))) for size in SIZES}


@pytest.fixture(scope="session")
def proxied(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    """Yield a Kafka cluster with the proxy in front of it."""
    with proxied_cluster(kafka_class_path, tmp_path_factory.mktemp("kafka-proxied")) as made:
        yield made


@pytest.fixture(scope="session")
def observe(
    request: pytest.FixtureRequest,
    kafka_class_path: str,
    kafka_addresses: dict[int, str],
    our_clusters: dict[int, TcpCluster],
    tmp_path_factory: pytest.TempPathFactory,
    skip_or_fail: Callable[[str], NoReturn],
) -> Iterator[Callable[[str, int], Seen]]:
    """Yield a function that returns the results of a family's script. All required scripts are started at once."""
    # Two tests may need the same results: of Kafka's clients alone, and for the comparison with those through a proxy.
    wanted = {tuple(item.callspec.params[key] for key in ("family", "brokers")) for item in _of_clients(request)}
    commands: dict[str, list[str] | CannotRun] = {}
    for family, _ in sorted(wanted):
        if family not in commands:
            try:
                commands[family] = FAMILIES[family].prepare(tmp_path_factory.mktemp(family), kafka_class_path)
            except CannotRun as reason:
                commands[family] = reason
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs: dict[tuple[str, int, str], Future[dict[str, Any]]] = {}
        for family, brokers in sorted(wanted):
            command = commands[family]
            if isinstance(command, list):
                for title, address in (
                    ("kafka", kafka_addresses[brokers]),
                    ("kmirror", our_clusters[brokers].bootstrap_servers),
                ):
                    runs[family, brokers, title] = pool.submit(run_script, command, address, brokers)

        def outcomes(family: str, brokers: int) -> Seen:
            command = commands[family]
            if isinstance(command, CannotRun):
                skip_or_fail(str(command))
            return Seen(*(runs[family, brokers, title].result() for title in ("kafka", "kmirror")))

        yield outcomes


def _of_clients(request: pytest.FixtureRequest) -> list[Any]:
    return [item for item in request.session.items if "observe" in getattr(item, "fixturenames", ())]
