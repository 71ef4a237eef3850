"""Building what people install."""
