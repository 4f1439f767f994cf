"""The group coordinator: classic groups, the offsets that they commit, and its APIs."""
