"""Kernels that were compiled in advance and come with the package, for a processor that most machines surpass.

`packaging/kernels.py` makes them. They are read-only, and used only if the package's sources, Python, numba and processor are those
they were compiled for; otherwise everything is compiled on this machine, as in packages without them. Does not import numba.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .cache_folder import tell

_SOURCES = Path(__file__).resolve().parents[1]
FOLDER = _SOURCES / "kernels"
DESCRIPTION = "kernels.json"

# Name of the processor and its features, as LLVM has them, by platform.machine(). A processor of 2013 or later has x86-64-v3.
BASELINES = {
    "x86_64": (
        "x86-64-v3",
        "avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave",
    ),
    "arm64": ("apple-m1", "aes crypto dotprod fp-armv8 fp16fml fullfp16 lse neon ras rcpc rdm sha2 sha3"),
}
BASELINES["AMD64"] = BASELINES["x86_64"]


@dataclass(frozen=True)
class Bundle:
    folder: Path
    target: str  # what it was compiled for, as numba identifies it
    ready: frozenset[str]  # what was compiled, see `run/warm_up.py`


@cache
def bundled() -> Bundle | None:
    """The kernels of the package, if there are any and they fit."""
    try:
        found = json.loads((FOLDER / DESCRIPTION).read_text(encoding="utf-8"))
        reason = _why_not(found)
        bundle = Bundle(FOLDER, str(found["target"]), frozenset(found["ready"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        tell(
            f"the precompiled kernels of the package can't be read ({error}); the solver is compiled on this machine, once."
        )
        return None
    if reason:
        tell(f"the precompiled kernels of the package are {reason}; the solver is compiled on this machine, once.")
        return None
    return bundle


def here() -> dict[str, str]:
    """What compiled code must fit, besides the processor."""
    from importlib.metadata import PackageNotFoundError, version  # late, for the add-on: it imports much

    try:
        numba = version("numba")
    except PackageNotFoundError:
        numba = ""
    return {
        "Python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "numba": numba,
        "system": f"{sys.platform}-{platform.machine()}",
    }


@cache
def source_identity() -> str:
    """A digest of the sources of the core."""
    digest = hashlib.sha256()
    for path in sorted(_SOURCES.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def host_features() -> dict[str, bool]:
    """The features of this machine's processor."""
    from llvmlite import binding

    return dict(binding.get_host_cpu_features())


def _why_not(found: dict[str, object]) -> str:
    for name, value in here().items():
        if found[name] != value:
            return f"for {name} {found[name]} and not for {value or 'none'}"
    if found["identity"] != source_identity():
        return "for other sources than these, which somebody has modified"
    try:
        features = host_features()
    except Exception as error:  # without llvmlite nothing is compiled at all
        return f"not usable ({error})"
    missing = [name for name in str(found["features"]).split() if not features.get(name)]
    return f"for a processor with {', '.join(missing)}" if missing else ""
