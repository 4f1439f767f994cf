"""The group coordinator: groups, their members, and their storage."""
