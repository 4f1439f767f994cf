"""What a broker answers: one file for each API, which says what is served, what is checked and what is left out."""
