"""kmirror's own clients over TCP under `kmirror fuzz client`: they end in time, for any responses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmirror.fuzz.clients.campaign import Client, ClientCampaign
from kmirror.fuzz.clients.delivery_faults import Delivery
from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.servers import OwnCluster
from kmirror.fuzz.clients.stored_responses import Entry
from kmirror.protocol.registry import by_name, key_of

PROGRAM = Path(__file__).with_name("kmirror_client.py")
WORDS = (sys.executable, str(PROGRAM), "{bootstrap}", "{session}")
RESPONSES = 150
TIMEOUT_S = 60.0
"""Far more than the timeouts of all its calls: a faulty client waits for ever."""
NUMBERS = {Delivery.LENGTH: -1, Delivery.LENGTH_AND_END: 2**31 - 1, Delivery.CUT: 9, Delivery.LATE: 600}
APIS = ("Metadata", "ListOffsets", "OffsetForLeaderEpoch", "Fetch", "InitProducerId", "Produce", "CreateTopics")


@pytest.fixture(scope="module")
def campaign() -> Iterator[ClientCampaign]:
    interceptor = ResponseInterceptor()
    with OwnCluster(interceptor) as cluster:
        yield ClientCampaign(
            Client(WORDS, TIMEOUT_S, is_strict=True, late_s=0.6), cluster, interceptor, 3, shrinks=False
        )


@pytest.fixture(scope="module")
def versions(campaign: ClientCampaign) -> dict[str, int]:
    """Return the response versions of the program, after some sessions without findings."""
    *_, tally = campaign.run(frames=RESPONSES)
    assert not tally.findings, [each.description for each in tally.findings.values()]
    assert 0 < tally.taken < tally.frames
    return {row.message: row.version for row in tally.reactions}


@pytest.mark.parametrize("delivery", [delivery for delivery in Delivery if delivery is not Delivery.WHOLE])
def test_kmirrors_clients_end_for_every_delivery_fault(
    delivery: Delivery, campaign: ClientCampaign, versions: dict[str, int]
) -> None:
    data = NUMBERS.get(delivery, 0).to_bytes(4, "big", signed=True)
    request_versions = {key_of(by_name(f"{name}Response")): versions[f"{name}Response"] for name in APIS}
    fault = campaign.replay([Entry(key, version, 0, data, delivery) for key, version in request_versions.items()])
    assert fault is None, fault
