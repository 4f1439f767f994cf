"""Processes of the group `mirror`: a source with a follower, a kmirror destination, and MirrorMaker 2 with its own.

All mirror or follow the same topic of the same source. Peers that are not measured are stopped (`SIGSTOP`), so that
each finds all written records when it is resumed, and copies them while the others are stopped.
"""

from __future__ import annotations

import mmap
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import net_servers
from benchmarks.harness import scratch
from benchmarks.net_servers import PAGE_BYTES, Server
from benchmarks.tools import mirror_maker_class_path
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest, TopicData
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of

PARTITIONS = 4
TOPIC = "mirrored"
TIMEOUT_S = 120.0
POLL_INTERVAL_S = 0.005
LONG_TIMEOUT_CONFIGS = {"broker.session.timeout.ms": "120000", "replica.lag.time.max.ms": "120000"}
"""Configs of the source: its follower stays in the ISR while it is stopped during writing."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A process that mirrors or follows `TOPIC`, and the location of its log."""

    name: str
    process: subprocess.Popen[str]
    folder: Path
    """Log directory that the process fills, by itself or through the broker at `address`."""
    address: str = ""
    copies: bool = True
    """Whether it copies the same bytes; MirrorMaker writes its own batches."""

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def cpu_s(self) -> float:
        return net_servers.cpu_s(self.process)

    def has_all_records(self, source: Source) -> bool:
        """Return whether it has all records of the source's log."""
        if self.copies:
            return log_bytes(self.folder) == source.log_bytes()
        return end_offsets(self.address) == source.end_offsets()


@dataclass(frozen=True, slots=True)
class Source:
    """The source; broker 1 leads, and broker 2 follows."""

    server: Server
    address: str
    """Address of broker 1."""

    def log_bytes(self) -> int:
        return log_bytes(self.server.folders[0])

    def end_offsets(self) -> list[int]:
        return end_offsets(self.address)

    @property
    def follower(self) -> Peer:
        return Peer("kafka-follower", self.server.processes[1], self.server.folders[1])


def log_bytes(folder: Path) -> int:
    """Return the size of a broker's logs of the topic in bytes."""
    return sum(path.stat().st_size for path in logs(folder))


def logs(folder: Path) -> Iterator[Path]:
    return folder.glob(f"{TOPIC}-*/*.log")


def drop_cached_pages(folder: Path) -> None:
    """Drop the cached pages of a broker's logs, so that memory does not run short."""
    for path in logs(folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def touch_memory(size: int) -> None:
    """Use `size` bytes of memory and free them, so that the next allocation is fast.

    A virtual machine returns memory that is free for a few seconds to its host. To get it back costs ten times as much
    as to write to it, and the process that happens to get it would be charged.
    """
    with mmap.mmap(-1, size) as memory:
        memory[::PAGE_BYTES] = bytes(-(-size // PAGE_BYTES))


def end_offsets(address: str) -> list[int]:
    """Return the high watermark of each partition."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer: Any = Consumer({"bootstrap.servers": address, "group.id": "none", "log_level": 0})
    try:
        return [consumer.get_watermark_offsets(TopicPartition(TOPIC, p), 10)[1] for p in range(PARTITIONS)]
    except KafkaException:
        return []  # The topic does not exist yet.
    finally:
        consumer.close()


@contextmanager
def source() -> Iterator[Source]:
    """Yield an Apache Kafka of two brokers, with the topic."""
    from confluent_kafka.admin import AdminClient, NewTopic

    with net_servers.kafka(2, LONG_TIMEOUT_CONFIGS) as server:
        address = f"127.0.0.1:{server.ports[1]}"
        admin: Any = AdminClient({"bootstrap.servers": address, "log_level": 0})
        deadline = time.monotonic() + TIMEOUT_S
        while len(admin.list_topics(timeout=10).brokers) < len(server.ports):
            assert time.monotonic() < deadline, "the follower does not register"
            time.sleep(0.1)
        topic = NewTopic(TOPIC, PARTITIONS, replica_assignment=[[1, 2]] * PARTITIONS)
        admin.create_topics([topic])[TOPIC].result(TIMEOUT_S)
        yield Source(server, address)


def _send_until_success(port: int, request: Message) -> None:
    """Send a request to the kmirror broker, until it succeeds."""
    wire = encode_request(request, request.MAX_VERSION, correlation_id=1, client_id="c")
    deadline = time.monotonic() + TIMEOUT_S
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection:
        while True:
            connection.sendall(len(wire).to_bytes(4, "big") + wire)
            with connection.makefile("rb", buffering=0) as file:
                frame = file.read(int.from_bytes(file.read(4), "big"))
            reply: Any = decode_response(frame, key_of(type(request)), request.MAX_VERSION).body
            if not reply.error_code and not any(topic.error_code for topic in getattr(reply, "topics", [])):
                return
            assert time.monotonic() < deadline, reply
            time.sleep(0.1)


@contextmanager
def ours(source: Source) -> Iterator[Peer]:
    """Yield `kmirror serve`, one broker, with a mirror of the topic."""
    with net_servers.kmirror(1, ["--feature", "mirror.version=1"]) as server:
        (port,) = server.ports.values()
        configs = [MirrorConfig(name="bootstrap.servers", value=source.address)]
        _send_until_success(port, CreateMirrorRequest(mirror_name="bench", config=configs))
        _send_until_success(port, AddTopicsToMirrorRequest(mirror_name="bench", topics=[TopicData(topic_name=TOPIC)]))
        yield Peer("kmirror", server.processes[0], server.folders[0], server.addresses)


@contextmanager
def mirror_maker(source: Source, codec: str) -> Iterator[Peer]:
    """Yield MirrorMaker 2, which writes to its own Kafka, with the source's compression."""
    path = mirror_maker_class_path()
    assert path is not None, "the caller checked"
    with net_servers.kafka(1) as target:
        configs = {
            "clusters": "source, target",
            "source.bootstrap.servers": source.address,
            "target.bootstrap.servers": target.addresses,
            "source->target.enabled": "true",
            "source->target.topics": TOPIC,
            "source->target.producer.compression.type": codec,
            "target.producer.compression.type": codec,
            "target->source.enabled": "false",
            "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "checkpoints.topic.replication.factor": "1",
            "heartbeats.topic.replication.factor": "1",
            "offset.storage.replication.factor": "1",
            "status.storage.replication.factor": "1",
            "config.storage.replication.factor": "1",
            "emit.heartbeats.enabled": "false",
            "emit.checkpoints.enabled": "false",
            "sync.topic.acls.enabled": "false",
        }
        folder = scratch() / f"mirror-maker-{time.monotonic_ns()}"
        folder.mkdir()
        config = net_servers.properties(folder / "mm2.properties", configs)
        main = "org.apache.kafka.connect.mirror.MirrorMaker"
        command = ["java", "-Xmx1g", "-Xms1g", "-cp", path, main, str(config)]
        log = (folder / "log").open("wb")
        with log, subprocess.Popen(command, stdout=log, stderr=log, text=True) as process:
            try:
                yield Peer("mirrormaker", process, target.folders[0], target.addresses, copies=False)
            finally:
                process.kill()


@contextmanager
def start_all(codec: str) -> Iterator[tuple[Source, Peer, Peer, Peer]]:
    """Yield the source, kmirror, MirrorMaker and the follower, after all have started to mirror."""
    with ExitStack() as stack:
        started_source = stack.enter_context(source())
        yield (
            started_source,
            stack.enter_context(ours(started_source)),
            stack.enter_context(mirror_maker(started_source, codec)),
            started_source.follower,
        )


def wait_for_all_records(peer: Peer, source: Source) -> None:
    """Wait until a peer has all records of the source's log."""
    deadline = time.monotonic() + TIMEOUT_S
    while not peer.has_all_records(source):
        assert peer.process.poll() is None, f"{peer.name} ended"
        assert time.monotonic() < deadline, f"{peer.name} does not catch up"
        time.sleep(POLL_INTERVAL_S)
