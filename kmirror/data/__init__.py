"""Files that are part of the package: `sample/` is a log folder that Apache Kafka wrote."""
