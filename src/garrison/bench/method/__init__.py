"""How to measure: labelled rows, fresh processes that take turns, rounds, and when a number is steady."""
