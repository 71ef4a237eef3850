"""Digests of the sources of a picture, insensitive to prose: comments, docstrings, tooltips and formatting do not count.

A source is one of
- `FILE.py`: the code of a module,
- `FILE.py::NAME`: the code of one function or class in it, or the value of one constant,
- `experiment:NAME`: title and origin of an experiment, which are drawn into its picture,
- `sample:NAME`: title and frames of a sample or a showcase,
- `panel:LABEL`: the code of a panel of the add-on, with labels and default values of the properties that it names.

Modules that only draw (`picture.py`, `render.py`, `studio.py` ...) and the simulator itself are not listed as sources: otherwise
every change to them would ask for hours of rendering. Experiments assert their numbers in the tests, so a picture that no longer
shows what the simulator computes does not stay unnoticed.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def digest(sources: list[str]) -> str:
    """Digest of all sources, in order. Raises ValueError for a source that does not exist."""
    text = "\n".join(f"{source}: {_content(source)}" for source in sources)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _content(source: str) -> str:
    kind, colon, name = source.partition(":")
    if colon and kind == "experiment":
        from .experiments import TABLE as EXPERIMENTS

        return repr((EXPERIMENTS[name].title, EXPERIMENTS[name].source))
    if colon and kind == "sample":
        from .samples import SHOWCASES
        from .samples import TABLE as SAMPLES

        one = (SAMPLES | SHOWCASES)[name]
        return repr((one.title, one.still, one.film))
    if colon and kind == "panel":
        return _panel(name)
    path, _, name = source.partition("::")
    if not (ROOT / path).is_file():
        raise ValueError(f"{source}: there is no file {path}")
    if path.endswith(".py"):
        return _code(_definition(path, name) if name else _tree(path))
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def _definition(path: str, name: str) -> ast.stmt:
    for node in _tree(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return node
    raise ValueError(f"{path}::{name}: the file defines no {name}")


def _code(node: ast.AST) -> str:
    """The syntax tree without docstrings, as text."""
    return ast.dump(_WithoutDocstrings().visit(ast.parse(ast.unparse(node))))


class _WithoutDocstrings(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_string(body[0]):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
        return node


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


# Panels ------------------------------------------------------------------------------------------------------------


def _panel(label: str) -> str:
    """Code of the panel with this `bl_label`, and what its properties show."""
    cls = _panels().get(label)
    if cls is None:
        raise ValueError(f"panel:{label}: no panel in addon/panels has this label")
    names = {node.value for node in ast.walk(cls) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    shown = [f"{name}: {text}" for name, text in sorted(_properties()) if name in names]
    return "\n".join([_code(cls), *shown])


@cache
def _panels() -> dict[str, ast.ClassDef]:
    found = {}
    for cls in _classes("addon/panels"):
        for node in cls.body:
            is_label = isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == "bl_label" for target in node.targets
            )
            if is_label and isinstance(node.value, ast.Constant):
                found[str(node.value.value)] = cls
    return found


@cache
def _properties() -> frozenset[tuple[str, str]]:
    """Names of properties with their label and other values, without tooltips: every string after the first is one."""
    found = set()
    for cls in _classes("addon/properties"):
        for node in cls.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                values = [each.value for each in ast.walk(node.annotation) if isinstance(each, ast.Constant)]
                label = next((value for value in values if isinstance(value, str)), "")
                numbers = [value for value in values if not isinstance(value, str)]
                found.add((node.target.id, f"{label} {numbers}"))
    return frozenset(found)


def _classes(folder: str) -> list[ast.ClassDef]:
    paths = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob("*.py"))
    return [node for path in paths for node in _tree(path).body if isinstance(node, ast.ClassDef)]
