"""The transaction coordinator, the producer ids that it hands out, and its APIs."""
