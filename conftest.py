# SPDX-License-Identifier: Apache-2.0
"""How NumPy runs in tests, and what the examples in docstrings may take for granted."""

import os
from pathlib import Path

import pytest

# Idle threads of OpenBLAS and OpenMP spin: linear algebra by NumPy, SciPy and scikit-learn takes
# three times the processor time with two threads as with one.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import headrace as hr  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def names_of_examples(doctest_namespace: dict[str, object]) -> None:
    """Examples call the package `hr` without importing it, as those of NumPy and pandas do."""
    doctest_namespace["hr"] = hr


@pytest.fixture(scope="session")
def folder_of_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where examples write their files."""
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(autouse=True)
def files_of_examples(request: pytest.FixtureRequest) -> None:
    """Examples write files by their names alone, into a temporary folder."""
    if isinstance(request.node, pytest.DoctestItem):
        patch = request.getfixturevalue("monkeypatch")
        patch.chdir(request.getfixturevalue("folder_of_examples"))
