"""Implicit nets: discrete elastic rods on any graph, joined by frames of their own."""
