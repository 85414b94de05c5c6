"""What multiplexers print: pure readers of their lists and screens, and what to ask them for."""
