"""CAGE Challenge 2's own protocol: its evaluation, its final table, and replaying recorded episodes."""
