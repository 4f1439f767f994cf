"""A second, declarative reading of a log's files, field by field."""
