"""What the log tools do with files: dump, read, compare and check log directories."""
