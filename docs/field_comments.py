"""Griffe extension for the API reference: the comment behind a field of a dataclass (its shape and unit) becomes its docstring."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import Any

from griffe import Attribute, Docstring, Extension


class FieldComments(Extension):
    def on_attribute_instance(self, *, node: Any, attr: Attribute, agent: Any, **kwargs: Any) -> None:
        if attr.docstring is not None or not isinstance(node, ast.AnnAssign) or not attr.parent.is_class:
            return
        lines = attr.lines_collection[attr.filepath][node.lineno - 1 : node.end_lineno]
        # A field alone may be no complete program, e.g. in the middle of a class: only its tokens matter.
        tokens = tokenize.generate_tokens(io.StringIO("\n".join(lines).strip() + "\n").readline)
        comments = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
        if comments:
            attr.docstring = Docstring(" ".join(comments), parent=attr, lineno=node.lineno)
