"""A broker: its parts, what it replays of the metadata log, and the APIs that it answers."""
