"""Output of kafka-dump-log."""
