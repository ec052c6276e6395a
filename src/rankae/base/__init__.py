"""What all methods share: the scikit-learn interface, input and parameter checks, calibration, and saving."""
