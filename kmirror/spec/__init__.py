"""Facts about Kafka as rows: error codes, configuration keys, metrics, bounds. Imports no other package of kmirror."""
