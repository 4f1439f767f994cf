"""CRC-32C (Castagnoli) checksums.

Three libraries are supported; the fastest installed one is used. `crc32c` accepts any buffer, `google-crc32c` only
`bytes` (so a view is copied). crcmod is pure Python: it is the reference, and the fallback where `google-crc32c` has no
wheel and installs without its compiled part. They are imported for the first checksum. Of `crc32c` only the compiled
module is imported: its package looks up its own version on import, which takes as long as the rest of a short command.

A loop over many small batches should call `crc32c_function()` once and use the library's own function, which saves a
Python call per checksum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Final, TypeAlias
from warnings import catch_warnings, simplefilter

from kmirror.records.layout import Buffer

Crc: TypeAlias = Callable[[Buffer], int]


def _load_hardware() -> Crc:
    module = _load_compiled_part("crc32c", "_crc32c") or import_module("crc32c")
    function: Crc = module.crc32c
    return function


def _load_compiled_part(package: str, name: str) -> ModuleType | None:
    """Return the compiled module of a package without importing the package; None if it is not found."""
    if package in sys.modules:
        return None
    package_spec = find_spec(package)
    locations = None if package_spec is None else package_spec.submodule_search_locations
    spec = None if locations is None else PathFinder.find_spec(f"{package}.{name}", list(locations))
    if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module if hasattr(module, package) else None


def _load_google() -> Crc:
    with catch_warnings():
        # Without its compiled part the library warns that it is slow; the import then fails and it is not used.
        simplefilter("ignore", RuntimeWarning)
        value: Callable[[bytes], int] = import_module("google_crc32c.cext").value
    return lambda data: value(data if type(data) is bytes else bytes(data))


def _load_crcmod() -> Crc:
    function: Crc = import_module("crcmod.predefined").mkPredefinedCrcFun("crc-32c")
    return function


# In order of preference.
_LOADERS: Final[dict[str, Callable[[], Crc]]] = {
    "crc32c": _load_hardware,
    "google-crc32c": _load_google,
    "crcmod": _load_crcmod,
}

_selected: tuple[str, Crc] | None = None


def implementations() -> dict[str, Crc]:
    """Return every installed implementation, the preferred one first."""
    found: dict[str, Crc] = {}
    for name, load in _LOADERS.items():
        try:
            found[name] = load()
        except ImportError:
            continue
    return found


def _choose() -> tuple[str, Crc]:
    global _selected
    if _selected is None:
        for name, load in _LOADERS.items():
            try:
                _selected = name, load()
                break
            except ImportError:
                continue
    assert _selected is not None, "crcmod is a dependency of kmirror and must be installed"
    return _selected


def crc32c_function() -> Crc:
    """Return the checksum function in use, unwrapped if possible."""
    return _choose()[1]


def crc32c(data: Buffer) -> int:
    """Return the checksum of `data` as an unsigned 32-bit number."""
    return (_selected or _choose())[1](data)


def crc32c_reference(data: Buffer) -> int:
    """Return the checksum of `data`, computed by crcmod."""
    return _load_crcmod()(data)


def __getattr__(name: str) -> str:
    if name == "IMPLEMENTATION":
        return _choose()[0]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
