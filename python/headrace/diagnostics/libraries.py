# SPDX-License-Identifier: Apache-2.0
"""Checks of the libraries that Headrace works with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from headrace.diagnostics.check import Check

#: The versions that the tests run with; a test holds them equal to those of pyproject.toml.
TESTED = {
    "numpy": "2.4.6",
    "pandas": "3.1.1",
    "pyarrow": "26.0.1",
    "polars": "2.1.0",
    "duckdb": "2.0.0",
    "scipy": "1.17.1",
    "scikit-learn": "1.9.1",
    "networkx": "3.6.1",
    "narwhals": "2.29.0",
    "dask": "2026.8.0",
    "distributed": "2026.8.0",
    "ibis-framework": "12.0.0",
    "numba": "0.68.1",
    "sqlglot": "30.30.0",
    "torch": "2.15.0",
    "fsspec": "2026.9.0",
    "python-calamine": "0.9.1",
    "xgboost-cpu": "3.2.0",
}
#: NumPy before this is refused by the package's metadata.
_LEAST_NUMPY = (1, 26)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", text)[:2])


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def libraries() -> Iterator[Check]:
    """Versions of optional libraries against those of the tests."""
    fine = []
    for name, tested in TESTED.items():
        found = _installed(name)
        if not found:
            continue
        have, want = _numbers(found), _numbers(tested)
        first = 2 if want[0] == 0 else 1  # 0.68 and 0.69 may differ as 1 and 2 do
        if name == "numpy" and have < _LEAST_NUMPY:
            fix = "pip install --upgrade numpy"
            yield Check(name, "broken", f"{found} is older than 1.26", fix)
        elif have[:first] == want[:first] or (name == "numpy" and have < want):
            fine.append(f"{name} {found}")
        else:
            age = "older" if have < want else "newer"
            found = f"{found} is {age} than {tested}, of the tests"
            yield Check(name, "advice", found, f"pip install '{name}=={tested}' if it fails")
    yield Check("libraries", "ok", ", ".join(fine) or "none of the optional ones")


def scipy_arrays() -> Iterator[Check]:
    """Whether SciPy takes arrays of others; nothing without SciPy."""
    if _installed("scipy"):
        is_set = os.environ.get("SCIPY_ARRAY_API", "") not in ("", "0")
        found = "set" if is_set else "not set: SciPy returns arrays of NumPy"
        yield Check("SCIPY_ARRAY_API", "ok", found)
