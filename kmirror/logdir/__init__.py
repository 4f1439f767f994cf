"""Reading, verifying, comparing and writing Kafka's files on disk; no nodes or sockets."""
