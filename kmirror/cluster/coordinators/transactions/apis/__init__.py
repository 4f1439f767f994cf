"""What a transaction coordinator answers: one file for each API."""
