"""What an Envelope says about the client whose request a broker forwards."""

from __future__ import annotations

from kmirror.kernel.events import InboundLink, LinkOpened, RequestReceived, Send
from kmirror.kernel.ids import Endpoint, Principal
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.default_principal_data import DefaultPrincipalData
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.headers import decode_request, encode_request
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation


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
