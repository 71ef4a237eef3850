"""Compiled kernels on disk: one file per kernel and argument types, in the package or in the user's cache folder.

A file is named by everything that its code depends on: a digest of the sources, the function, argument types, Python, and the
processor it was compiled for. It begins with a checksum. What is missing, damaged or for something else is compiled anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
import sys
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from .bundle import bundled
from .cache_folder import cache_folder, tell, why_not_trusted

_MAGIC = b"tendril kernel 1\n"
_PACKAGE = __name__.rpartition(".core.")[0]  # its name differs between Blender and Python

used: set[Path] = set()  # files read or written by this process


class DamagedError(Exception):
    """A file is not what was written."""


class DistrustedError(Exception):
    """Somebody else may have written a file."""


class KernelCache:
    """The cache of one function, in place of numba's own. Never raises."""

    def __init__(self, function: Any, digest: str, place: str) -> None:
        """`place` is the folder within that of the digest."""
        self._function, self._digest, self._place = function, digest, place

    @property
    def cache_path(self) -> str:
        return str(cache_folder() / self._digest / self._place)

    def enable(self) -> None:
        pass

    disable = flush = enable

    def load_overload(self, signature: Any, target: Any) -> Any:
        target.refresh()
        package = bundled()
        name = self._name(signature, repr(target.codegen().magic_tuple()))
        places = [Path(self.cache_path) / name]
        if package is not None:
            places.insert(0, package.folder / self._digest / self._place / self._name(signature, package.target))
        for path in places:
            with suppress(FileNotFoundError, NotADirectoryError):
                try:
                    found = _rebuilt(_read(path), signature, target)
                    if found is None:
                        continue
                except DistrustedError as error:
                    tell(f"{path} is not used, because {error}; it is compiled again.")
                    continue
                except Exception as error:  # a damaged file can raise anything when it is unpickled
                    if isinstance(error, OSError):
                        raise FileNotFoundError from error
                    tell(f"{path} is damaged ({error}); it is compiled again, once.")
                    continue
                used.add(path)
                _note_use(path)
                return found
        if package is not None and self._place:
            tell("some of the solver is not among the precompiled kernels of the package; it is compiled now, once.")
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with suppress(Exception):  # a full disk, or code that can't be stored: it stays in memory
            if compiled.lifted or compiled.library.has_dynamic_globals:
                return
            path = Path(self.cache_path) / self._name(signature, repr(compiled.codegen.magic_tuple()))
            from numba.core.serialize import dumps

            _make_private_folders(path)
            _write(path, dumps((signature, compiled._reduce())))
            used.add(path)

    def _name(self, signature: Any, target: str) -> str:
        function = self._function
        digest = hashlib.sha256(repr((target, [str(kind) for kind in _arguments(signature)])).encode())
        digest.update(function.__code__.co_code)
        if function.__closure__:
            from numba.core.serialize import dumps

            digest.update(dumps(tuple(cell.cell_contents for cell in function.__closure__)))
        name = re.sub(r"\W+", "-", f"{function.__qualname__}-{function.__code__.co_firstlineno}")
        return f"{name}.py{sys.version_info[0]}{sys.version_info[1]}.{digest.hexdigest()[:24]}.nbc"


def _arguments(signature: Any) -> Any:
    return getattr(signature, "args", signature)


def _write(path: Path, content: bytes) -> None:
    """Writes a file at once, so that other processes see all of it or nothing."""
    header = json.dumps({"package": _PACKAGE}).encode() + b"\n"
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        with open(part, "xb", opener=_private) as file:
            file.write(_MAGIC + hashlib.sha256(header + content).digest() + header + content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _make_private_folders(path: Path) -> None:
    """The folders of a file within the user's cache folder."""
    for folder in reversed(path.relative_to(cache_folder()).parents):
        (cache_folder() / folder).mkdir(mode=0o700, exist_ok=True)  # each of them: `parents` would ignore the mode


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(path: Path) -> tuple[str, bytes]:
    """The name that the package had, and the pickled code. Unpickling executes what a file says, and so does calling the machine
    code in it: a file that somebody else may have written is not read, wherever it is."""
    with open(path, "rb") as file:
        reason = why_not_trusted(os.fstat(file.fileno()))
        if reason:
            raise DistrustedError(reason)
        content = file.read()
    begin = len(_MAGIC) + 32
    if content[: len(_MAGIC)] != _MAGIC or hashlib.sha256(content[begin:]).digest() != content[len(_MAGIC) : begin]:
        raise DamagedError("its checksum is wrong")
    header, _, pickled = content[begin:].partition(b"\n")
    return json.loads(header)["package"], pickled


def copy(path: Path, to: Path, linkable: bool) -> None:
    """Copies a file; if it need not be linkable into other kernels, without intermediate code, which is most of it."""
    package, pickled = _read(path)
    if not linkable:
        from numba.core.serialize import dumps

        signature, (library, *others) = _Reader(pickled, package).load()
        name, kind, (code, _) = library
        pickled = dumps((signature, ((name, kind, (code, b"")), *others)))
    _write(to, pickled)


def _rebuilt(stored: tuple[str, bytes], signature: Any, target: Any) -> Any:
    """The compiled function; None if it is needed for another one that is being compiled, and can't be linked into it."""
    from numba.core.compiler import CompileResult

    package, pickled = stored
    reader = _Reader(pickled, package)
    kinds, (library, function, *others) = reader.load()
    if tuple(_arguments(kinds)) != tuple(_arguments(signature)):
        raise DamagedError("it is for other arguments")
    function.modname = reader.renamed(function.modname)
    name, kind, (code, linkable) = library
    if linkable:
        return CompileResult._rebuild(target, library, function, *others)
    if len(target.typing_context.callstack):
        return None
    # Numba finds the entries by the intermediate code. Without it, an attempt to link the function is an exception.
    target.codegen()._engine._defined_symbols |= {function.llvm_func_name, function.llvm_cpython_wrapper_name}
    found = CompileResult._rebuild(target, (name, kind, (code, _no_code())), function, *others)
    found.library._shared_module = None
    return found


@cache
def _no_code() -> bytes:
    from llvmlite import binding

    return bytes(binding.parse_assembly("").as_bitcode())


class _Reader(pickle.Unpickler):
    """Reads code that was compiled where the package had another name."""

    def __init__(self, pickled: bytes, package: str) -> None:
        super().__init__(io.BytesIO(pickled))
        self._package = package

    def renamed(self, module: str) -> str:
        inside = module == self._package or module.startswith(self._package + ".")
        return _PACKAGE + module[len(self._package) :] if inside else module

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(self.renamed(module), name)
        if name == "_rebuild_env":  # it imports the module that it is told
            return lambda module, *others: found(self.renamed(module), *others)
        return found


@cache
def _note_use(path: Path) -> None:
    """Updates the modification time of the folder in `cache_folder` that is used, so that clean-up keeps it."""
    folder = cache_folder()
    for parent in path.parents:
        if parent.parent == folder:
            with suppress(OSError):
                os.utime(parent)
