"""The steps of SLEEC: clusters of rows, label neighbours, an embedding that keeps them near, a regression onto it."""
