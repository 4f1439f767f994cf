"""Differential fuzzing: our decoders compared with those of others, Kafka's own included."""
