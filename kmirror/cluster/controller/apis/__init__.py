"""The APIs of the controller, one file each."""
