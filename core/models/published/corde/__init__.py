"""Explicit nets as published: CoRdE (Spillmann and Teschner 2009)."""
