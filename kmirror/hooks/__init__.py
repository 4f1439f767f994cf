"""What may a test do to the requests of a node? Answer them, delay, drop, hold, and watch them, in any runner."""
