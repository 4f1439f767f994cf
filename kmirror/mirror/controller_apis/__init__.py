"""What a controller decides about mirrors (KIP-1279): one file for each API."""
