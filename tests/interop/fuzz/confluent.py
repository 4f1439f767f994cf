"""Program of confluent-kafka whose responses are broken: metadata, writing, reading as a group, admin requests.

It may raise errors of the library's own family; any other error ends the program with exit code 1.
"""

from __future__ import annotations

import concurrent.futures
import faulthandler
import signal
import sys
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

TOPIC = "fuzz"
WAIT_S = 2.0
READ_S = 1.5


def write(bootstrap: str, session: str) -> None:
    client = Producer(
        {"bootstrap.servers": bootstrap, "linger.ms": 0, "message.timeout.ms": 2_000, "socket.timeout.ms": 2_000}
    )
    client.list_topics(TOPIC, timeout=WAIT_S)
    for number in range(4):
        client.produce(TOPIC, b"from %d" % number, partition=number % 2)
    client.flush(WAIT_S)


def read(bootstrap: str, session: str) -> None:
    client = Consumer(
        {
            "bootstrap.servers": bootstrap, "group.id": f"read-{session}", "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 50, "session.timeout.ms": 6_000, "heartbeat.interval.ms": 500,
            "enable.auto.commit": False, "socket.timeout.ms": 2_000,
        }
    )  # fmt: skip
    try:
        client.subscribe([TOPIC])
        until, seen = time.monotonic() + READ_S, 0
        while seen < 20 and time.monotonic() < until:
            seen += sum(row.error() is None for row in client.consume(20, timeout=0.2))
        client.commit(asynchronous=True)
        client.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=WAIT_S)
    finally:
        client.close()


def order(bootstrap: str, session: str) -> None:
    client = AdminClient({"bootstrap.servers": bootstrap, "socket.timeout.ms": 2_000})
    bound = {"request_timeout": WAIT_S}
    client.describe_cluster(**bound).result(WAIT_S + 1)
    for future in client.create_topics([NewTopic(f"made-{session}", 1, 1)], **bound).values():
        future.result(WAIT_S + 1)
    client.list_consumer_groups(**bound).result(WAIT_S + 1)
    for future in client.delete_topics([f"made-{session}"], **bound).values():
        future.result(WAIT_S + 1)


STEPS = {step.__name__: step for step in (write, read, order)}
"""All of them are run, or those given as arguments."""


def main() -> int:
    faulthandler.register(signal.SIGQUIT, all_threads=True)
    faulthandler.enable()
    bootstrap, session, *names = sys.argv[1:]
    for step in [STEPS[name] for name in names or STEPS]:
        try:
            step(bootstrap, session)
        except (KafkaException, concurrent.futures.TimeoutError) as error:
            print(f"{step.__name__}: {error!r}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
