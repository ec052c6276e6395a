"""From data to a trained network: the closed-form start, the paper's joint training, and what they share."""
