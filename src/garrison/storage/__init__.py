"""Files that survive a crash: atomic writes, and the checkpoint format, which loads without torch and runs no code."""
