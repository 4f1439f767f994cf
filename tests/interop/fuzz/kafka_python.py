"""Program of kafka-python whose responses are broken: metadata, writing, reading as a group, admin requests.

It may raise errors of the library's own family; any other error ends the program with exit code 1.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError

TOPIC = "fuzz"
WAIT_MS = 2_000
READ_S = 1.5
QUICK = {"request_timeout_ms": WAIT_MS, "bootstrap_timeout_ms": WAIT_MS}


def write(bootstrap: str, session: str) -> None:
    client = KafkaProducer(bootstrap_servers=bootstrap, max_block_ms=WAIT_MS, delivery_timeout_ms=WAIT_MS, **QUICK)
    try:
        client.partitions_for(TOPIC)
        sent = [client.send(TOPIC, b"from %d" % number, partition=number % 2) for number in range(4)]
        client.flush(timeout=WAIT_MS / 1000)
        for each in sent:
            each.get(timeout=WAIT_MS / 1000)
    finally:
        client.close(timeout=1)


def read(bootstrap: str, session: str) -> None:
    client = KafkaConsumer(
        TOPIC, bootstrap_servers=bootstrap, group_id=f"read-{session}", auto_offset_reset="earliest",
        fetch_max_wait_ms=50, session_timeout_ms=6_000, heartbeat_interval_ms=500, request_timeout_ms=7_000,
        bootstrap_timeout_ms=WAIT_MS,
    )  # fmt: skip
    try:
        until, seen = time.monotonic() + READ_S, 0
        while seen < 20 and time.monotonic() < until:
            seen += sum(len(rows) for rows in client.poll(timeout_ms=200).values())
        client.commit()
        client.end_offsets([TopicPartition(TOPIC, 0)])
    finally:
        client.close(timeout_ms=1_000)


def order(bootstrap: str, session: str) -> None:
    client = KafkaAdminClient(bootstrap_servers=bootstrap, **QUICK)
    try:
        client.describe_cluster()
        client.create_topics([NewTopic(f"made-{session}", 1, 1)])
        client.list_topics()
        client.list_groups()
        client.delete_topics([f"made-{session}"])
    finally:
        client.close()


STEPS = {step.__name__: step for step in (write, read, order)}
"""All of them are run, or those given as arguments."""


def main() -> int:
    faulthandler.register(signal.SIGQUIT, all_threads=True)
    bootstrap, session, *names = sys.argv[1:]
    for step in [STEPS[name] for name in names or STEPS]:
        try:
            step(bootstrap, session)
        except KafkaError as error:
            print(f"{step.__name__}: {error!r}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
