"""The ways to step many environments, one module each."""
