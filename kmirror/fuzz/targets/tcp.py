"""Target: a broker behind a port, either a kmirror broker that is started here, or any on loopback.

Each request gets a response or its link is closed, a valid one gets a response, and the broker still serves other
links. With ours, memory stays bounded, and the effect of an accepted request shows in later responses. The next frame
is sent only after the end of the one before, so a finding belongs to one frame.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress

from kmirror.errors import UsageError
from kmirror.fuzz.connection import TIMEOUT_S, Connection, ConnectionClosed, ResponseTimeout
from kmirror.fuzz.disconnect_rules import Versions, api_versions_request, check_disconnect, read_versions
from kmirror.fuzz.effects import check_effect
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.processes import resident_bytes
from kmirror.fuzz.requests import PARTITIONS, TOPIC, requests
from kmirror.fuzz.responses import judge_response, key_and_version, may_block
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.target import Stateless
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.kernel.uuid import Uuid
from kmirror.net.loopback import check_loopback
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of

KNOWN_TIMEOUT_S = 1.0
WAITS_S = 0.05
EFFECT_S = 5.0
PROBE_EVERY = 512
MEMORY_BYTES_MAX = 1 << 30
"""Maximum resident memory of a kmirror broker."""
_METADATA_VERSION = 12
_CREATE_VERSION = 5
_CLIENT = "fuzz"


class BrokerTarget(Stateless):
    """Any broker, on one connection at a time. No frames are kept, as it cannot be reset."""

    name = "bootstrap-server"

    def __init__(self, host: str, port: int) -> None:
        self.connection = Connection(host, port)
        self._frame_count = 0
        self._versions: Versions | None = None
        self._silent: set[tuple[int, int]] = set()
        """APIs and versions that got no response once."""

    def reset(self) -> None:
        """Close the connection; the broker itself cannot be reset."""
        self.connection.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def judge(self, frame: Frame) -> str:
        """Return the outcome: "taken", the codes of the response, "closed" or "waits"; raises `Fault`."""
        self._frame_count += 1
        outcome = self._outcome(frame)
        if self._frame_count % PROBE_EVERY == 0:
            self.probe()
        return outcome

    def _outcome(self, frame: Frame) -> str:
        data = frame.data
        waits, api = may_block(data, TIMEOUT_S), key_and_version(data)
        # Do not wait as long for the same finding again.
        timeout_s = KNOWN_TIMEOUT_S if api in self._silent else TIMEOUT_S
        try:
            response = self.connection.ask(data, WAITS_S if waits else timeout_s)
            outcome = judge_response(data, response)
            self.check_effect(data, response)
            return outcome
        except ConnectionClosed:
            check_disconnect(frame, self._api_versions())
            return "closed"
        except ResponseTimeout:
            if waits:
                return "waits"
            self._silent.add(api)
            description = f"neither an answer nor a closed link within {timeout_s:.0f} s"
            raise Fault(FaultKind.SILENT, description, f"silent {api}", "one of both") from None
        except OSError as error:
            raise Fault(
                FaultKind.DEAD, f"{self.connection.address}: {error}", "no connection", "a broker that listens"
            ) from None

    def check_effect(self, data: bytes, response: bytes) -> None:
        """Do nothing: other clients of the broker may undo the effect."""

    def _api_versions(self) -> Versions:
        """Return the API versions of the broker; they are requested once."""
        if self._versions is None:
            self._versions = read_versions(self.connection.ask(api_versions_request(), TIMEOUT_S))
        return self._versions

    def probe(self) -> None:
        """Send ApiVersions on a new link; raises `Fault` if there is no response."""
        connection = Connection(*self.connection.address)
        try:
            connection.ask(api_versions_request(), TIMEOUT_S)
        except (OSError, ConnectionClosed, ResponseTimeout) as error:
            raise Fault(FaultKind.DEAD, f"ApiVersions is not answered: {error!r}", "probe", "an answer") from None
        finally:
            connection.close()


class ServedTarget(BrokerTarget):
    """A `kmirror serve` with one broker, in memory, started here."""

    name = "tcp"

    def __init__(self) -> None:
        command = [
            sys.executable,
            "-m",
            "kmirror",
            "serve",
            "--memory",
            "--port",
            "0",
            "-o",
            "json",
            "--feature",
            "mirror.version=1",
        ]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._server.stdout is not None
        first_line = self._server.stdout.readline()
        try:
            host, _, port = json.loads(first_line)["bootstrap_servers"].rpartition(":")
        except (ValueError, KeyError):
            self._server.kill()
            raise UsageError(f"kmirror serve did not start: its first line is {first_line!r}") from None
        super().__init__(host, int(port))

    def check_effect(self, data: bytes, response: bytes) -> None:
        """Raise `Fault` if a part answered with NONE has no effect after `EFFECT_S`."""
        until = time.monotonic() + EFFECT_S

        def ask(body: Message, version: int) -> Message:
            found = self.connection.ask(_request(body, version), TIMEOUT_S)
            return decode_response(found, key_of(type(body)), version).body

        def waits() -> bool:
            time.sleep(WAITS_S)
            return time.monotonic() < until

        check_effect(data, response, ask, waits)

    def probe(self) -> None:
        """Also check the memory of the process."""
        super().probe()
        resident = resident_bytes(self._server.pid)
        if resident > MEMORY_BYTES_MAX:
            raise Fault(
                FaultKind.MEMORY, f"{resident >> 20} MiB resident", "resident", f"at most {MEMORY_BYTES_MAX >> 20} MiB"
            )

    def close(self) -> None:
        """Close the connection, and stop the server."""
        super().close()
        self._server.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._server.wait(TIMEOUT_S)
        self._server.kill()
        self._server.wait()
        if self._server.stdout is not None:
            self._server.stdout.close()


def open_target(options: TargetOptions) -> tuple[ServedTarget, Stream]:
    """Return a kmirror broker, started here, and requests about its topic."""
    target = ServedTarget()
    try:
        return target, _requests(target, options)
    except BaseException:
        target.close()  # The caller has no reference to the process yet.
        raise


def open_broker(options: TargetOptions) -> tuple[BrokerTarget, Stream]:
    """Return the broker at `options.bootstrap_server`, and requests about a topic that is created there.

    Raises `UsageError` for a broker beyond loopback, unless `owns_host` is set.
    """
    if options.bootstrap_server is None:
        raise UsageError("the target bootstrap-server needs --bootstrap-server HOST:PORT")
    host, port = checked_address(options.bootstrap_server, owns_host=options.owns_host)
    target = BrokerTarget(host, port)
    return target, _requests(target, options)


def checked_address(address: str, *, owns_host: bool) -> tuple[str, int]:
    """Return host and port; raises `UsageError` for an invalid address, or one that may not be fuzzed."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"{address!r} is no HOST:PORT")
    host = host.strip("[]")
    if not owns_host:
        check_loopback(host)
    return host, int(port)


def _requests(target: BrokerTarget, options: TargetOptions) -> Stream:
    return requests(options.seed, options.messages, [_topic_id(target.connection)])


def _topic_id(connection: Connection) -> Uuid:
    """Create the topic unless it exists, and return its id; raises `UsageError` if the broker does not answer."""
    topic = CreatableTopic(name=TOPIC, num_partitions=PARTITIONS, replication_factor=1)
    names = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=False)
    try:
        connection.ask(_request(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), _CREATE_VERSION), TIMEOUT_S)
        response = connection.ask(_request(names, _METADATA_VERSION), TIMEOUT_S)
    except (OSError, ConnectionClosed, ResponseTimeout) as error:
        raise UsageError(f"{connection.address[0]}:{connection.address[1]} does not answer: {error!r}") from None
    body = decode_response(response, key_of(MetadataRequest), _METADATA_VERSION).body
    assert isinstance(body, MetadataResponse)
    return body.topics[0].topic_id


def _request(body: Message, version: int) -> bytes:
    return encode_request(body, version, correlation_id=0, client_id=_CLIENT)
