"""What happened in runs, as tables and pictures."""
