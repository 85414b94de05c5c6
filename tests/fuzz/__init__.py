"""The fuzzer of the wire: `python -m tests.fuzz --minutes 10`, and a few seconds of it in the suite."""
