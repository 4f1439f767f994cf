"""One file for each API: who may ask, what is checked, what comes back, what is left out."""
