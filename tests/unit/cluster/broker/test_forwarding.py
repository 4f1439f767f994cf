"""The Envelope's data of the client whose request a broker forwards."""

from __future__ import annotations

import pytest

from kmirror.kernel.events import CloseLink, InboundLink, LinkOpened, Reply, RequestReceived, ResponseReceived, Send
from kmirror.kernel.ids import Endpoint, Principal
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.default_principal_data import DefaultPrincipalData
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.headers import decode_request, decode_response, encode_request, encode_response
from kmirror.protocol.registry import key_of
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.client_links import link_opened


@pytest.mark.kip("590", "Envelope")
@pytest.mark.parametrize("error", [ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.UNSUPPORTED_VERSION])
def test_a_client_gets_the_error_of_a_refused_envelope(error: ErrorCode) -> None:
    cluster = Cluster(Simulation(3), "a", brokers=1)
    cluster.start()
    broker, now = cluster.broker(1), cluster.simulation.world.now
    client = link_opened("c")
    request = CreateTopicsRequest(topics=[CreatableTopic(name="t")])
    broker.handle(now, client)
    effects = broker.handle(
        now, RequestReceived(client.link, encode_request(request, 7, correlation_id=9, client_id=None))
    )
    [sent] = [effect for effect in effects if isinstance(effect, Send)]
    correlation_id = decode_request(b"".join(sent.chunks)).head.correlation_id
    frame = encode_response(EnvelopeResponse(error_code=error), 0, correlation_id=correlation_id)
    effects = broker.handle(now, ResponseReceived(sent.link, frame))
    if error is ErrorCode.UNSUPPORTED_VERSION:
        assert CloseLink(client.link) in effects
        return
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    answer = decode_response(b"".join(reply.chunks), key_of(CreateTopicsRequest), 7).body
    assert isinstance(answer, CreateTopicsResponse)
    assert [(row.name, row.error_code) for row in answer.topics] == [("t", ErrorCode.UNKNOWN_SERVER_ERROR)]


def test_an_envelope_names_the_client_and_carries_its_frame() -> None:
    cluster = Cluster(Simulation(3), "a", brokers=1)
    cluster.start()
    broker, now = cluster.broker(1), cluster.simulation.world.now
    client = LinkOpened(InboundLink(("c",)), "SASL", Principal("User", "alice"), Endpoint("10.1.2.3", 4000))
    frame = encode_request(CreateTopicsRequest(), 7, correlation_id=9, client_id="c")
    broker.handle(now, client)
    effects = broker.handle(now, RequestReceived(client.link, memoryview(frame)))
    [sent] = [effect for effect in effects if isinstance(effect, Send)]
    envelope = decode_request(b"".join(sent.chunks)).body
    assert isinstance(envelope, EnvelopeRequest) and envelope.request_principal is not None
    principal = DefaultPrincipalData.decode(envelope.request_principal[2:], 0)
    assert (principal.type, principal.name) == ("User", "alice")
    assert bytes(envelope.client_host_address) == bytes([10, 1, 2, 3])
    assert bytes(envelope.request_data) == frame
