"""The files of Kafka on a disk: read, checked, compared, written. No node, no socket."""
