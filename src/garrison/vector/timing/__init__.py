"""Where a step's time goes, and a model of what it would be elsewhere."""
