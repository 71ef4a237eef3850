"""Builds the installable packages."""
