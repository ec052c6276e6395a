"""What scores and proposes labels, one file each, and the stacker that joins them."""
