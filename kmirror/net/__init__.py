"""The real world: files here, sockets and the clock later; nothing in this package decides about Kafka."""
