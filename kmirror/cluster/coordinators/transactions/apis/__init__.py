"""The APIs of the transaction coordinator, one file each."""
