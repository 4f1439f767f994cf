"""The format `kafka-log` returns the rows of a Kafka consumer, and names the place of a fault."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kmirror.records import RecordData, build_batch
from kmirror.records.crc32c import crc32c
from tests.spark.consumed import ROOT, as_consumed, consumed

KRAFT = ROOT / "tests/data/log/kraft-4.3"
SAMPLE = ROOT / "kmirror/logdir/sample"
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
SEGMENT = "codecs-2/00000000000000000000.log"


def load(spark: Any, path: object, **options: object) -> Any:
    return spark.read.format("kafka-log").options(**options).load(str(path))


def rows_of(frame: Any) -> list[dict[str, Any]]:
    micros = "unix_micros(timestamp) AS timestamp"
    columns = ("topic", "partition", "offset", micros, "timestampType", "leaderEpoch", "key", "value", "headers")
    return [row.asDict(recursive=True) for row in frame.selectExpr(*columns).collect()]


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_rows_equal_those_of_a_kafka_consumer(spark: Any, isolation: str) -> None:
    for (folder, recorded_isolation), wanted in consumed().items():
        if recorded_isolation == isolation:
            names = {name.rpartition("-")[0] for name in wanted}
            # Small pieces: their rows must not depend on the places where a segment is split.
            frame = load(spark, ROOT / folder, isolation=isolation, splitBytes=32768, topics=",".join(names))
            found = as_consumed(rows_of(frame))
            for name, records in wanted.items():
                assert found[name] == records, f"{folder} {name} {isolation}"


def test_columns_are_named_and_typed_as_by_sparks_kafka_source(spark: Any) -> None:
    types = dict(load(spark, SAMPLE).dtypes)
    assert types == {
        "key": "binary", "value": "binary", "topic": "string", "partition": "int", "offset": "bigint",
        "timestamp": "timestamp", "timestampType": "int", "headers": "array<struct<key:string,value:binary>>",
        "leaderEpoch": "int", "producerId": "bigint", "isControl": "boolean", "batchOffset": "bigint",
        "file": "string",
    }  # fmt: skip


def test_filters_are_pushed_down_with_the_same_result(spark: Any) -> None:
    everything = load(spark, SAMPLE).cache()
    conditions = [
        "topic = 'codecs' AND partition = 2 AND offset BETWEEN 100 AND 120",
        "topic IN ('codecs', 'txn') AND partition > 1 AND offset IN (3, 7)",
        "timestamp >= '2023-11-14 22:13:20.5' AND timestamp < '2023-11-14 22:13:21'",
        "offset > 50 OR topic = 'idem'",
    ]
    for condition in conditions:
        wanted = sorted((r.topic, r.partition, r.offset) for r in everything.where(condition).collect())
        found = sorted((r.topic, r.partition, r.offset) for r in load(spark, SAMPLE).where(condition).collect())
        assert found == wanted, condition
        assert wanted, f"no row matches {condition}"
    everything.unpersist()


def test_one_frame_serves_many_queries(spark: Any) -> None:
    """Spark 4.3 reuses the plan for one query's filters in the next one over the same frame."""
    frame = load(spark, SAMPLE)
    whole = frame.count()
    codecs, txn = frame.where("topic = 'codecs'"), frame.where("topic = 'txn'")
    assert 0 < txn.count() < codecs.count() < whole
    assert frame.count() == whole
    assert codecs.union(txn).count() == codecs.count() + txn.count()
    joined = codecs.alias("a").join(frame.alias("b"), "offset").where("b.topic = 'txn'").select("a.offset")
    offsets = {row.offset for row in txn.select("offset").collect()}
    assert joined.count() > 0
    assert {row.offset for row in joined.collect()} <= offsets
    frame.createOrReplaceTempView("logs")
    one = "(SELECT count(*) FROM logs WHERE topic = 'txn')"
    (row,) = spark.sql(f"SELECT count(*) AS n, {one} AS txn FROM logs WHERE topic <> 'txn'").collect()
    assert (row.n, row.txn) == (whole - txn.count(), txn.count())


def test_a_query_reads_the_columns_and_pieces_it_needs(spark: Any) -> None:
    frame = load(spark, SAMPLE, splitBytes=4096)
    for query, columns in (
        (frame.select("value"), "[value#"),
        (frame.where("offset < 5").select("key"), "[key#"),
        (frame.groupBy().count(), "[partition#"),
        (frame.groupBy("topic").count(), "[topic#"),
        (frame.groupBy("file").count(), "[file#"),
    ):
        plan = query._jdf.queryExecution().toString().partition("== Physical Plan ==")[2]
        assert f"BatchScan kafka-log{columns}" in plan, plan
    pieces = frame.rdd.getNumPartitions()
    for condition in ("topic = 'txn'", "partition = 2", "offset < 10", "topic = 'codecs' AND offset > 60"):
        assert frame.where(condition).rdd.getNumPartitions() < pieces, condition


def test_a_count_decodes_no_record(spark: Any, tmp_path: Path) -> None:
    """The checksum of these batches is valid, but their records cannot be decoded."""
    good = bytearray(build_batch([RecordData(value=b"x" * 50)] * 9, base_offset=0))
    good[61:] = b"\xff" * len(good[61:])
    good[17:21] = crc32c(good[21:]).to_bytes(4, "big")
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / f"{0:020}.log").write_bytes(good)
    frame = load(spark, tmp_path)
    assert frame.count() == frame.where("topic = 't'").count() == 9
    assert frame.groupBy("leaderEpoch", "batchOffset").count().collect()[0]["count"] == 9
    (row,) = frame.groupBy("file").count().collect()
    assert (row["file"], row["count"]) == (str(tmp_path / "t-0" / f"{0:020}.log"), 9)
    with pytest.raises(Exception, match="CorruptSegment"):
        frame.select("offset").collect()


@pytest.fixture
def plain(spark: Any) -> Iterator[Any]:
    """Return the session like one of another creator: without kmirror's rule in its optimizer."""
    methods = spark._jsparkSession.experimental()
    rules = methods.extraOptimizations()
    getattr(methods, "extraOptimizations_$eq")(rules.drop(rules.size()))
    yield spark
    getattr(methods, "extraOptimizations_$eq")(rules)
    spark.conf.unset(PUSHDOWN)


def test_without_the_rule_queries_read_more_with_the_same_result(plain: Any) -> None:
    """Spark's own push-down is off, then on, then explicitly requested."""
    small = {"splitBytes": 65536, "topics": "codecs,txn"}
    for pushes in ("false", "true"):
        plain.conf.set(PUSHDOWN, pushes)
        frame = load(plain, SAMPLE, **small)
        part = frame.where("topic = 'txn'").count()
        assert frame.count() > part > 0
        assert frame.where("topic = 'txn'").rdd.getNumPartitions() == frame.rdd.getNumPartitions()
    pushed = load(plain, SAMPLE, pushFilters="true", **small).where("topic = 'txn'")
    assert pushed.count() == part
    assert pushed.rdd.getNumPartitions() < frame.rdd.getNumPartitions()


def test_batches_with_their_headers_and_places(spark: Any) -> None:
    frame = load(spark, SAMPLE, level="batch", topics="codecs")
    rows = frame.orderBy("file", "position").collect()
    assert {row.codec for row in rows} == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert all(row.isValid and row.magic == 2 and row.lastOffset >= row.baseOffset for row in rows)
    counted = {(r.partition, r["sum(recordCount)"]) for r in frame.groupBy("partition").sum("recordCount").collect()}
    records = load(spark, SAMPLE, topics="codecs", columns="partition")
    assert counted == {(r.partition, r["count"]) for r in records.groupBy("partition").count().collect()}


def test_a_broken_batch_fails_is_skipped_or_becomes_a_row(spark: Any, tmp_path: Path) -> None:
    shutil.copytree(SAMPLE / "codecs-2", tmp_path / "codecs-2")
    path = tmp_path / SEGMENT
    data = bytearray(path.read_bytes())
    first = 12 + int.from_bytes(data[8:12], "big")
    data[first + 70] ^= 1
    path.write_bytes(data)
    with pytest.raises(Exception, match=rf"{SEGMENT}, position {first}, offset \d+: checksum mismatch: stored"):
        load(spark, tmp_path).count()
    whole = load(spark, SAMPLE, topics="codecs").where("partition = 2").count()
    skipped = load(spark, tmp_path, onCorrupt="skip").count()
    assert skipped < whole
    (row,) = load(spark, tmp_path, onCorrupt="row").where("corrupt IS NOT NULL").collect()
    assert f"position {first}" in row.corrupt
    assert (row.topic, row.partition, row.key) == ("codecs", 2, None)
    assert load(spark, tmp_path, checkCrc="false", columns="partition").count() == whole
    failed_or_broken = load(spark, tmp_path, level="batch").where("NOT isValid").collect()
    assert [row.position for row in failed_or_broken] == [first]


def test_internal_topics_and_control_records_are_read_on_demand(spark: Any) -> None:
    markers = load(spark, SAMPLE, topics="txn", includeControl="true").where("isControl")
    assert markers.count() == load(spark, SAMPLE, topics="txn", level="batch").where("isControl").count() > 0
    assert load(spark, SAMPLE).where("topic LIKE '\\_\\_%'").count() == 0


def test_wrong_options_are_named(spark: Any, tmp_path: Path) -> None:
    for options, message in (
        ({"isolation": "dirty"}, "option isolation must be one of"),
        ({"columns": "colour"}, "no column .colour"),
        ({"startingOfset": "1"}, "no option 'startingofset'"),
    ):
        with pytest.raises(Exception, match=message):
            load(spark, SAMPLE, **options).count()
    with pytest.raises(Exception, match="no segment of a Kafka log there"):
        load(spark, tmp_path).count()
