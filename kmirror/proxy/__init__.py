"""A proxy between any Kafka clients and any brokers, transparent except for the faults that rules define."""
