"""The peers' own tests with our backends in the place of theirs: `make test-peers`."""
