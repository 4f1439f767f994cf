"""Deterministic runner: nodes, a network and virtual time, all determined by one seed."""
