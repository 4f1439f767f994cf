"""Continuous load from a librdkafka producer, and a check of the records it left."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from confluent_kafka import KafkaError, Message, Producer

WITHIN_S = 60
ACKED_IN_A_PHASE = 200
QUIET = {"log_level": 0, "reconnect.backoff.max.ms": 200, "topic.metadata.refresh.fast.interval.ms": 100}


class Load:
    """Producer on its own thread that writes numbered values and records where they were acknowledged."""

    def __init__(self, servers: str, topic: str, partitions: int) -> None:
        self._topic = topic
        self._partitions = partitions
        configs = {"enable.idempotence": True, "acks": "all", "linger.ms": 5, "message.timeout.ms": WITHIN_S * 1000}
        self._producer = Producer({"bootstrap.servers": servers, **configs, **QUIET})
        self.acked: dict[bytes, tuple[int, int]] = {}
        self.failed: list[str] = []
        self.sent = 0
        self.flowing = threading.Event()
        """While it is cleared, no new values are written."""
        self.flowing.set()
        self._news = threading.Condition()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while not self._ending.is_set():
            if not self.flowing.is_set():
                self._producer.poll(0.05)
                continue
            partition = self.sent % self._partitions
            self._producer.produce(self._topic, b"%d" % self.sent, partition=partition, on_delivery=self._on_delivery)
            self.sent += 1
            self._producer.poll(0.001)
        self._producer.flush(WITHIN_S)

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        with self._news:
            if error is not None:
                self.failed.append(str(error))
            else:
                value, partition, offset = message.value(), message.partition(), message.offset()
                assert value is not None and partition is not None and offset is not None
                self.acked[value] = (partition, offset)
            self._news.notify_all()

    def wait_for_more(self) -> None:
        """Wait until `ACKED_IN_A_PHASE` more values are acknowledged, or one has failed."""
        with self._news:
            wanted = len(self.acked) + ACKED_IN_A_PHASE
            came = self._news.wait_for(lambda: bool(self.failed) or len(self.acked) >= wanted, WITHIN_S)
        assert came, f"{len(self.acked)} of {self.sent} acknowledged, and no more in {WITHIN_S} s"

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` holds; it is checked after each phase of acknowledgements."""
        while not condition():
            self.wait_for_more()

    def end(self) -> None:
        self._ending.set()
        self._thread.join()


def faults_of(acked: dict[bytes, tuple[int, int]], logs: list[dict[int, bytes]]) -> list[str]:
    """Describe acknowledged values that are not at their offset, unacknowledged values, and duplicates."""
    lost = [value for value, (partition, offset) in acked.items() if logs[partition].get(offset) != value]
    counts = Counter(value for log in logs for value in log.values())
    found = [f"{len(lost)} of {len(acked)} acknowledged values are not where they were: {lost[:5]}"] if lost else []
    found += [f"{value!r} is there {count} times" for value, count in counts.items() if count > 1]
    return found + [f"{value!r} was not acknowledged" for value in counts if value not in acked]
