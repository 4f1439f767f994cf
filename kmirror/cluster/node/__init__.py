"""A broker as a node of its cluster: the context of its parts, and its life with the controller."""
