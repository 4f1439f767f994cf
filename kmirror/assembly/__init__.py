"""A cluster of whole nodes, the same for every runner: what it is made of, and what is to be seen inside."""
