"""What a group coordinator answers: one file for each API."""
