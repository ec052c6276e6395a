"""The steps of PD-Sparse: weights that stay sparse while they grow, a row's small dual problem, rounds over rows."""
