# SPDX-License-Identifier: Apache-2.0
"""What the examples in docstrings may take for granted."""

import pytest

import headrace as hr


@pytest.fixture(scope="session", autouse=True)
def names_of_examples(doctest_namespace: dict[str, object]) -> None:
    """Examples call the package `hr` without importing it, as those of NumPy and pandas do."""
    doctest_namespace["hr"] = hr
