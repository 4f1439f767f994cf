"""Clients, sans I/O: requests under way, versions, leaders, fetch sessions, producers and consumers."""
