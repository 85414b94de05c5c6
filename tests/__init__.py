"""The test suite; see `tests/run`."""
