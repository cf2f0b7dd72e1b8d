"""How to measure: labelled rows, a fresh process for every repeat, interleaved rounds, and when a number is steady."""
