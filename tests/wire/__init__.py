"""Tests of the wire layer: scanner, codecs, text."""
