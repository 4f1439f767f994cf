"""Files that are part of the package.

`sample/` is a log folder as brokers of Apache Kafka 4.3.1 left it after a clean shutdown, without indexes
and snapshots: `epochs-0` from a cluster whose leaders were killed in turn, all else from another cluster. The
common checkpoints have the lines of these partitions; no other file was edited.
`tests/unit/net/test_sample.py` says what the sample holds.
"""
