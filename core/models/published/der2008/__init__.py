"""Discrete Elastic Rods as published by Bergou et al. 2008: inextensible, with quasistatic material frames and explicit steps."""
