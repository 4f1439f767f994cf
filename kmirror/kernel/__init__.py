"""Basis of all nodes: events in, effects out; no clock, sockets, files or global randomness."""
