"""What a broker answers about mirrors (KIP-1279): one file for each API."""
