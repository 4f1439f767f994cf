"""Facts about Kafka as rows: error codes, configuration keys, metrics, bounds. Imports nothing of ours."""
