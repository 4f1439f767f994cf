"""Twelve rows of docs/benchmarks.md: for each the recorded row with its ratio, and a sentence about its meaning."""

from __future__ import annotations

from typing import NamedTuple


class Headline(NamedTuple):
    subject: str
    group: str
    row: tuple[str, str, str]
    """Id, case and peer of the recorded row (`benchmarks.report.key`)."""
    compared_with: str
    meaning: str


HEADLINES: tuple[Headline, ...] = (
    Headline(
        "Mirror a real Kafka: bytes of log per second of processor time",
        "mirror",
        ("M1", "log bytes per CPU-second, JVMs warm, none", "mirrormaker"),
        "MirrorMaker 2",
        "kmirror copies batches as they are; MirrorMaker 2 puts each record into a new batch.",
    ),
    Headline(
        "The same, beside a broker that replicates",
        "mirror",
        ("M2", "log bytes per CPU-second, JVMs warm, none", "kafka-follower"),
        "a follower of Kafka 4.3.1",
        "A mirror uses less processor time than a second replica at the source.",
    ),
    Headline(
        "Lag of a mirror at 10 MB/s, median",
        "mirror",
        ("M4", "lag at 10 MB/s, 50 %", "mirrormaker"),
        "MirrorMaker 2",
        "Time from a consumer at the source to a consumer at the destination, for the same record.",
    ),
    Headline(
        "Produce to one broker over TCP: processor time of the server",
        "net",
        ("N1", "produce, CPU, batches of 16 KiB, none", "kafka"),
        "Kafka 4.3.1",
        "A warm JVM needs more processor time for the same batches.",
    ),
    Headline(
        "Consume from one broker over TCP: processor time of the server",
        "net",
        ("N2", "consume, CPU, batches of 16 KiB, none", "kafka"),
        "Kafka 4.3.1",
        "Both send batches as they are on disk, so the difference is small.",
    ),
    Headline(
        "Produce to three brokers, three replicas: elapsed time",
        "net",
        ("N6", "three brokers: produce, RF 3, wall, batches of 16 KiB, none", "kafka"),
        "Kafka 4.3.1",
        "Three brokers of kmirror share one thread: the more processors a machine has, the more that costs.",
    ),
    Headline(
        "Verify a log of 1 GiB: processor time",
        "tools",
        ("T1", "verify / dump, 1 GiB, batches of 16 KiB", "kafka-dump-log"),
        "kafka-dump-log",
        "`kmirror verify` also checks that offsets follow one another.",
    ),
    Headline(
        "Decode a Metadata response of 100 topics",
        "protocol",
        ("C1", "decode Metadata v12, 100 x 10 x 3, uniform", "kafka-python"),
        "kafka-python",
        "Both are pure Python; kmirror's readers are compiled from the message's schema.",
    ),
    Headline(
        "Iterate over the records of a batch",
        "records",
        ("R1", "iterate 100 x 100 B, one header", "aiokafka"),
        "aiokafka",
        "aiokafka uses a compiled extension. kmirror is pure Python and takes about four times as long.",
    ),
    Headline(
        "Append batches of 64 KiB to a log",
        "log",
        ("P1", "append / limit, batches of 64 KiB", "kmirror"),
        "limit: one checksum and one copy",
        "1.00 would mean no cost besides the checksum and the copy.",
    ),
    Headline(
        "Share of a line of 50 MB/s and 100 ms that a mirror fills",
        "lines",
        ("L1", "share of a line that a mirror fills, 50 MB/s, 100 ms round trip", "kmirror"),
        "limit: the rate of the line",
        "Fetches grow on a long line (D70); one partition and one fetcher, simulated.",
    ),
    Headline(
        "Draw, run and judge one random history",
        "histories",
        ("H1", "0.4 s of plain Python / CPU-seconds per history of full", "kmirror"),
        "goal: 0.4 s of plain Python",
        "The goal, 1.00, is missed: a history takes about four times as long.",
    ),
)
