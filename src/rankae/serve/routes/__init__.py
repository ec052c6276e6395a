"""The faces of the service, one file each."""
