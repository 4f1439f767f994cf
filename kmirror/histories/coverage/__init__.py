"""Coverage of histories: rows of relevant events, and their counting while a history runs."""
