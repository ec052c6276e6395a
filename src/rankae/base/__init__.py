"""What every method shares: the scikit-learn interface, how inputs are read, how parameters are checked."""
