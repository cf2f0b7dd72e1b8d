"""Other people's CAGE-2 programs on the original CybORG and on ours, compared line by line."""
