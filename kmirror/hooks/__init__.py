"""Hooks on the requests of a node, for tests: respond to, delay, drop, hold or watch requests, in any runner."""
