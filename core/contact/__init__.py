"""Contact with Coulomb friction, for every model."""
