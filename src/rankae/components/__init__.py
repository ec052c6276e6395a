"""The components of the default model, which propose and score labels, and the stacker that combines their scores."""
