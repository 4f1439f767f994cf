"""The group coordinator: groups, their members, and where they are kept."""
