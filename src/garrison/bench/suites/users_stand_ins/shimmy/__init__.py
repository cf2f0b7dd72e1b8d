"""In the place of shimmy: games of ours are Gymnasium's already."""
