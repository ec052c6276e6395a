"""The APIs of the service, one file each."""
