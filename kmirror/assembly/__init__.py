"""A cluster of whole nodes for any runner: the assembly of its nodes, and views of their state."""
