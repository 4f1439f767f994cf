"""A broker as a node of its cluster: the context of its parts, its life with the controller, its partitions."""
