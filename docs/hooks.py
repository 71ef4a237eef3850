"""Hooks of the documentation site (mkdocs.yml).

The pages are written for the repository: README.md, CONTRIBUTING.md and CHANGELOG.md are outside docs/, and pages link to sources.
These hooks turn the three files into pages of the site and check links that leave docs/.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
SOURCES = {page: ROOT / source for source, page in PAGES.items()}
# Pages of the hosting site, as GitHub resolves them from README.md; they are no files.
HOSTED = {"../../releases/latest": "releases/latest", "../../issues": "issues"}

log = logging.getLogger("mkdocs.hooks.tendril")  # under "mkdocs", so that a warning fails a strict build
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_startup(command: str, dirty: bool) -> None:
    """Copies the sources that mkdocstrings reads, without what else is in the repository's root (virtual environments)."""
    package = ROOT / "out" / "api" / "tendril"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "core", package / "core", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "__init__.py", package / "__init__.py")


def on_files(files: Any, config: Any) -> Any:
    for page, source in SOURCES.items():
        files.append(File.generated(config, page, content=source.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    source = SOURCES.get(page.file.src_uri, DOCS / page.file.src_uri)
    folder = (DOCS / page.file.src_uri).parent

    def replaced(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        if target.startswith("#") or "://" in target or target.startswith("mailto:"):
            return match.group()
        if target in HOSTED:
            return f"[{text}]({config.repo_url}/{HOSTED[target]})" if config.repo_url else text
        where, sharp, anchor = target.partition("#")
        path = (source.parent / where).resolve()
        if not path.exists():
            log.warning("%s links to %s, which does not exist", source.relative_to(ROOT), target)
            return match.group()
        if path.is_relative_to(DOCS):
            inside = path
        elif path.parent == ROOT and path.name in PAGES:
            inside = DOCS / PAGES[path.name]
        else:  # a file or a folder of the repository that is no page
            url = f"{config.repo_url}/tree/main/{path.relative_to(ROOT).as_posix()}"
            return f"[{text}]({url})" if config.repo_url else text
        return f"{mark}[{text}]({Path(os.path.relpath(inside, folder)).as_posix()}{sharp}{anchor})"

    return _LINK.sub(replaced, markdown)
