"""A broker: its parts, its life with the controller, and the APIs that it answers."""
