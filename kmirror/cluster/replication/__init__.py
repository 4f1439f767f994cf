"""Partitions of a broker: leadership, ISR, what followers fetch, cuts."""
