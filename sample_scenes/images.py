"""Pictures of docs/: which command makes each of them, and which are stale. `python -m tendril.sample_scenes.images [NAME ...]`

docs/images.toml lists every picture with its command, its sources and their digest when it was made. A picture whose sources have
another digest today is stale.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from .image_sources import ROOT, digest

DOCS = ROOT / "docs"
LIST = DOCS / "images.toml"
KINDS = (".png", ".webp")
WINDOW = "WINDOW"  # stands for the folder of packaging/window in a command
HEADER = """\
# The pictures of this folder: the command that makes each one, the sources it depends on, and their digest when it was made.
# `make doc-images` runs the commands and updates the digests; sample_scenes/image_sources.py explains sources and digests.
"""


@dataclass(frozen=True)
class Image:
    path: str  # in docs/
    command: str  # run in the root of the repository
    sources: list[str]
    digest: str = ""  # of the sources when the picture was made; empty if that is not known

    @property
    def name(self) -> str:
        return str(Path(self.path).with_suffix(""))

    @property
    def stale(self) -> bool:
        return self.digest != digest(self.sources)


def read() -> dict[str, Image]:
    """The listed pictures, by path."""
    table = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return {path: Image(path, **entry) for path, entry in table.items()}


def write(images: dict[str, Image]) -> None:
    entries = [
        f'\n["{image.path}"]\ncommand = {json.dumps(image.command)}\nsources = {json.dumps(image.sources)}\n'
        f"digest = {json.dumps(image.digest)}\n"
        for _, image in sorted(images.items())
    ]
    LIST.write_text(HEADER + "".join(entries), encoding="utf-8")


def pictures() -> set[str]:
    """Paths of the pictures that exist in docs/."""
    found = (path for kind in KINDS for path in DOCS.rglob(f"*{kind}"))
    return {path.relative_to(DOCS).as_posix() for path in found}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tendril.sample_scenes.images", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="path in docs/ or file name, with or without .png; default: all"
    )
    parser.add_argument(
        "--check", action="store_true", help="list stale pictures and make none; code 1 if there are any"
    )
    parser.add_argument("--stale", action="store_true", help="make stale pictures only")
    parser.add_argument("--accept", action="store_true", help="record the pictures as up to date without making them")
    parser.add_argument("--window", metavar="FOLDER", help="folder of packaging/window, which pictures of panels need")
    options = parser.parse_args(arguments)
    images = read()
    try:
        chosen = [
            image for image in select(images, options.names) if image.stale or not (options.check or options.stale)
        ]
    except ValueError as error:
        parser.error(str(error))
    if options.check:
        print(
            "\n".join(f"stale: docs/{image.path} ({image.command})" for image in chosen)
            or "All pictures are up to date."
        )
        return 1 if chosen else 0
    if options.accept:
        record(chosen)
        return 0
    return 0 if make(chosen, options.window) else 1


def record(images: list[Image]) -> None:
    """Stores the digests of today's sources in the list."""
    write(read() | {image.path: replace(image, digest=digest(image.sources)) for image in images})
    print(f"recorded in {LIST.name}: {', '.join(image.path for image in images)}", flush=True)


def select(images: dict[str, Image], names: list[str]) -> list[Image]:
    """Pictures by path or file name; all without names. Raises ValueError for a name that fits none."""
    if not names:
        return list(images.values())
    found = []
    for name in names:
        wanted = name.removeprefix("docs/").removesuffix(".png").removesuffix(".webp")
        fitting = [image for image in images.values() if wanted in (image.name, image.name.rpartition("/")[2])]
        if not fitting:
            raise ValueError(f"docs/images.toml lists no picture {name!r}")
        found += fitting
    return found


def make(images: list[Image], window: str | None) -> bool:
    """Runs the commands, each once, and records the pictures that they make. Returns whether none failed."""
    failed = False
    commands = dict.fromkeys(image.command for image in images)
    for number, command in enumerate(commands):
        print(f"[{number + 1}/{len(commands)}] {command}", flush=True)
        words = shlex.split(command)
        if WINDOW in words and window is None:
            print("  skipped: needs --window FOLDER, see docs/releasing.md", flush=True)
            continue
        words = [{"python": sys.executable, WINDOW: window or ""}.get(word, word) for word in words]
        result = subprocess.run(words, cwd=ROOT, env=os.environ)
        if result.returncode:
            print(f"  failed with code {result.returncode}; the picture is not recorded", file=sys.stderr, flush=True)
            failed = True
            continue
        record([image for image in images if image.command == command])
    return not failed


if __name__ == "__main__":
    sys.exit(main())
