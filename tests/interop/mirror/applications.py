"""Applications that are not restarted: a group's consumer and a transactional producer, with librdkafka.

Each has a thread with the loop of a typical program. They know one address, and are not notified of a switch.
"""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaException, Message, Producer

from kmirror.kernel.ids import TopicPartition
from tests.producer_load import QUIET, WITHIN_S

IN_A_TRANSACTION = 4
"""Values, alternately to partition 0 and 1."""
PAUSE_S = 0.01


class Row(NamedTuple):
    """A record as it was read."""

    tp: TopicPartition
    offset: int
    value: bytes


class Ledger:
    """Writes numbered transactions; one that fails is aborted and retried."""

    def __init__(self, servers: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": servers, "transactional.id": topic, "linger.ms": 1, **QUIET})
        self.committed: dict[int, int] = {}
        """Transaction to its committed attempt."""
        self.acked: dict[bytes, tuple[int, int]] = {}
        """Value to partition and offset, for committed values."""
        self.aborted: list[str] = []
        """Reasons why attempts were aborted."""
        self.fatal = ""
        """Error that would require a restart of the program."""
        self.flowing = threading.Event()
        """While it is cleared, no transaction is begun."""
        self.flowing.set()
        self.idle = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._producer.init_transactions(WITHIN_S)
            number = attempt = 0
            while not self._ending.is_set():
                if not self.flowing.is_set():
                    self.idle.set()
                    time.sleep(PAUSE_S)
                    continue
                self.idle.clear()
                if self._commits(number, attempt):
                    number, attempt = number + 1, 0
                    time.sleep(PAUSE_S)
                else:
                    attempt += 1
        except KafkaException as error:
            self.fatal = str(error)

    def _commits(self, number: int, attempt: int) -> bool:
        """Return whether the transaction was committed; if not, it was aborted. Raises KafkaException if fatal."""
        acked: dict[bytes, tuple[int, int]] = {}

        def on_delivery(error: object, message: Message) -> None:
            value, partition, offset = message.value(), message.partition(), message.offset()
            if error is not None:
                return
            assert value is not None and partition is not None and offset is not None
            acked[value] = (partition, offset)

        try:
            self._producer.begin_transaction()
            for index in range(IN_A_TRANSACTION):
                value = b"%d.%d.%d" % (number, attempt, index)
                self._producer.produce(self._topic, value, partition=index % 2, on_delivery=on_delivery)
            self._producer.commit_transaction(WITHIN_S)
        except KafkaException as failed:
            if not failed.args[0].txn_requires_abort():
                raise
            self.aborted.append(str(failed))
            self._producer.abort_transaction(WITHIN_S)
            return False
        self.acked |= acked
        self.committed[number] = attempt
        return True


class Reader:
    """Reads topics as the only member of a group, with automatic commits."""

    def __init__(self, servers: str, group: str, topics: list[str]) -> None:
        configs = {"group.id": group, "auto.offset.reset": "earliest", "auto.commit.interval.ms": 100}
        # A member whose heartbeats are delayed by a busy machine would rejoin, and read uncommitted records again.
        sessions = {"session.timeout.ms": 30_000, "heartbeat.interval.ms": 500}
        self._consumer = Consumer({"bootstrap.servers": servers, **configs, **sessions, **QUIET})
        self._consumer.subscribe(topics)
        self.rows: list[Row] = []
        self.failed: list[str] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join()
        self._consumer.close()

    def _run(self) -> None:
        while not self._ending.is_set():
            message = self._consumer.poll(0.05)
            if message is None:
                continue
            if message.error() is not None:
                self.failed.append(str(message.error()))
                continue
            topic, partition, offset, value = message.topic(), message.partition(), message.offset(), message.value()
            assert topic is not None and partition is not None and offset is not None and value is not None
            self.rows.append(Row(TopicPartition(topic, partition), offset, value))


def faults_of_reading(rows: list[tuple[int, bytes]], stored: dict[int, bytes], synced: int, settled: int) -> list[str]:
    """Return duplicates below the synced offset and skipped records in a reader's rows of one partition.

    `rows` are (offset, value) in the order of reading, `stored` is the final log. A reader may go back more than once:
    to the end of the log that the failover truncated (KIP-320), and to the synced offset. From the row at index
    `settled` on it does not go back.
    """
    faults = []
    back = [i for i in range(1, len(rows)) if rows[i][0] <= rows[i - 1][0]]
    first = min((offset for offset in stored if offset >= synced), default=-1)
    faults += [f"it went back to {rows[i][0]}, below {first}" for i in back if rows[i][0] < first]
    faults += [f"it went back to {rows[i][0]} after all was committed" for i in back if i >= settled]
    read: dict[int, bytes] = {}
    for offset, value in rows:
        if offset in read and offset < synced:
            faults.append(f"{offset} was read twice")
        read[offset] = value
    passed = [offset for offset, value in sorted(stored.items()) if read.get(offset) != value]
    if passed:
        faults.append(f"{len(passed)} records were passed over or are others: {passed[:5]}")
    return faults


def halves(values: list[bytes]) -> list[bytes]:
    """Return the attempts (`number.attempt`) with some of their values in one partition, but not all."""
    found: dict[bytes, int] = {}
    for value in values:
        attempt = value.rpartition(b".")[0]
        found[attempt] = found.get(attempt, 0) + 1
    return [attempt for attempt, count in found.items() if count != IN_A_TRANSACTION // 2]
