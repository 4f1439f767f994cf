"""The APIs of classic group members, one file each."""
