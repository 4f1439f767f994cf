"""Client libraries as a target: a port that serves them, and breaks some of the responses."""
