"""What of the source's metadata is brought here, and how (D17)? One file for each sync; the cycle runs them."""
