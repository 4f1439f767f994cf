"""What a broker answers: one file for each API. Who may ask, what is checked, what comes back, what is left out."""
