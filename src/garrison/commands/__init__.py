"""The commands of `garrison`: parsing and printing; each module is imported only when it runs."""
