"""The proxy is transparent to third-party clients: common operations have the same results with it and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interop.clients.conftest import Seen
from tests.interop.clients.families import FAMILIES, differences, run_script
from tests.interop.clients.proxied import BROKERS, CHOSEN, Proxied


@pytest.mark.parametrize("brokers", [BROKERS])
@pytest.mark.parametrize("family", CHOSEN)
def test_a_client_has_the_same_results_through_the_proxy(
    family: str,
    brokers: int,
    observe: Callable[[str, int], Seen],
    proxied: Proxied,
    kafka_class_path: str,
    tmp_path: Path,
) -> None:
    direct = observe(family, brokers).kafka
    command = FAMILIES[family].prepare(tmp_path, kafka_class_path)
    before = len(proxied.exchanges)
    found = differences(direct, run_script(command, proxied.proxy.bootstrap_servers, brokers))
    assert not found, f"{len(found)} differences\n" + "\n".join(found)
    seen = proxied.exchanges[before:]
    assert {exchange.port for exchange in seen} >= {"broker 1", "broker 2", "broker 3"}
    assert {exchange.api for exchange in seen} >= {"Produce", "Fetch", "JoinGroup", "CreateTopics"}
    assert not proxied.proxy.ended_nodes
