"""What a controller answers or decides: one file for each API."""
