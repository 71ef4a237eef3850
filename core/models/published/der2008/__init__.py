"""Discrete Elastic Rods as published in 2008: inextensible, with quasistatic material frames and explicit steps."""
