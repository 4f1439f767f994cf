"""The APIs of the group coordinator, one file each."""
