"""A second, declarative decoder of a log's files, field by field."""
