"""Coverage of histories: rows of events that matter, and what counts them while a history runs."""
