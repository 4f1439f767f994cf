"""The transaction coordinator, its producer ids, and its APIs."""
