"""The layers of the core, as data: `tests/core/test_layers.py` enforces them for every import."""

# A package may import itself and packages earlier in this list.
LAYERS = ("describe", "maths", "forces", "models", "contact", "run", "store")

# Modules and packages that all others may import; they import only each other.
OPEN = ("errors", "compile")

# Published models step their rigid bodies themselves, with the body code of contact.
EXCEPTIONS = {"models.published": ("contact.bodies",)}

# Third-party libraries; packages that are not listed may use all of the last line.
LIBRARIES = {
    "errors": {"numpy"},
    "describe": {"numpy", "scipy"},
    "compile": {"numpy", "numba", "llvmlite"},
    "store": {"numpy", "scipy", "tendril"},  # the command line runs the experiments in sample_scenes
}
DEFAULT_LIBRARIES = {"numpy", "scipy"}
