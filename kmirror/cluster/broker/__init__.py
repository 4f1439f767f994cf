"""A broker: its parts, its replay of the metadata log, and its request handlers."""
