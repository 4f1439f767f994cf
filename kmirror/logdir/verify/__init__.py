"""Verification of log folders against Kafka's formats and rules."""
