"""A broker as a node of its cluster: the context of its parts, its lifecycle, its partitions."""
