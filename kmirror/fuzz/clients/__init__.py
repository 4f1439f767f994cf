"""Client libraries as a target: a port that answers what they ask, and breaks some of the answers."""
