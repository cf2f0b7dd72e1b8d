"""Where the time of a step goes on the user's own environment, on every backend, and what would make it shorter."""
