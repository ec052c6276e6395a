"""Pages, figures and tables; no word about models."""
