"""Every import in the core follows the layers of `layers.py`, wherever in a file it is."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest
import tendril.core
from layers import DEFAULT_LIBRARIES, EXCEPTIONS, LAYERS, LIBRARIES, OPEN

CORE = Path(tendril.core.__file__).resolve().parent
FILES = sorted(path.relative_to(CORE).as_posix() for path in CORE.rglob("*.py"))


def package_of(file: str) -> str:
    """The dotted package of a file relative to the core: "contact.bodies" for contact/bodies/block.py."""
    return ".".join(Path(file).parts[:-1])


def imported(source: str, package: str) -> list[str]:
    """Everything a file in a package imports: ".models.protocol" for the core's own modules, else the absolute name."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(str(node.module))
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".") if package else []
            base = parts[: len(parts) - (node.level - 1)]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found += ["." + ".".join([*base, name]) for name in names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("__import__", "import_module"):
                name = importlib.util.resolve_name(str(node.args[0].value), f"tendril.core.{package}")
                found.append(name.removeprefix("tendril.core") if name.startswith("tendril.core.") else name)
    return found


def allowed(file: str, name: str) -> bool:
    """Whether a file of the core may import a module."""
    package = package_of(file)
    layer = package.split(".")[0] or Path(file).stem
    if not name.startswith("."):
        top = name.split(".")[0]
        return top in sys.stdlib_module_names or top in LIBRARIES.get(layer, DEFAULT_LIBRARIES)
    other = name[1:].split(".")[0]
    if file == "__init__.py" or other == layer or other in OPEN:
        return True
    if any(package.startswith(own) and name[1:].startswith(more) for own, more in EXCEPTIONS.items()):
        return True
    return layer in LAYERS and other in LAYERS and LAYERS.index(other) < LAYERS.index(layer)


@pytest.mark.parametrize("file", FILES)
def test_imports_follow_the_layers(file: str) -> None:
    names = imported((CORE / file).read_text(), package_of(file))
    assert [name for name in names if not allowed(file, name)] == []


def test_every_package_is_a_layer() -> None:
    packages = {Path(file).parts[0] for file in FILES if "/" in file}
    assert packages == {*LAYERS, *OPEN} - {"errors"}


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("describe/scene.py", "from ..models.registry import MODELS"),
        ("describe/scene.py", "def f():\n    from ..run import warm_up"),
        ("describe/scene.py", "import numba"),
        ("maths/geometry/knots.py", "from ...contact.solver import ContactSolver"),
        ("models/elastic/block.py", "from ...contact.bodies.block import BodyBlock"),
        ("models/published/corde/block.py", "from ....contact.solver import ContactSolver"),
        ("contact/bodies/block.py", "if TYPE_CHECKING:\n    from ...run.frame import Frame"),
        ("run/frame.py", "from .. import store"),
        ("compile/jit.py", "from ..models.registry import MODELS"),
        ("run/world.py", "import importlib\nimportlib.import_module('..store.cache', __package__)"),
    ],
)
def test_the_scan_sees_what_is_forbidden(file: str, source: str) -> None:
    assert not all(allowed(file, name) for name in imported(source, package_of(file)))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("models/published/corde/block.py", "from ....contact.bodies.block import BodyBlock"),
        ("contact/bodies/block.py", "from ...models.protocol import Energies"),
        ("describe/mass.py", "from scipy.spatial import ConvexHull"),
        ("forces/air.py", "from ..compile.jit import kernel"),
    ],
)
def test_the_scan_allows_what_is_allowed(file: str, source: str) -> None:
    assert all(allowed(file, name) for name in imported(source, package_of(file)))
