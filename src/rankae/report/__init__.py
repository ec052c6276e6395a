"""HTML pages, SVG plots and tables, independent of models."""
