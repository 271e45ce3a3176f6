# SPDX-License-Identifier: Apache-2.0
"""Matrices in sparse layouts, with SciPy's words.

>>> hr.tensor.csr_matrix([[0.0, 2.0], [3.0, 0.0]]).nnz
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import missing_of_module
from headrace.tensor.build import (
    block_diag,
    bmat,
    diags,
    eye,
    find,
    hstack,
    identity,
    kron,
    load_npz,
    norm,
    random,
    save_npz,
    tril,
    triu,
    vstack,
)
from headrace.tensor.matrix import issparse
from headrace.tensor.matrix_market import mmread, mmwrite
from headrace.tensor.sparse import coo_matrix, csc_matrix, csr_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "block_diag",
    "bmat",
    "coo_matrix",
    "csc_matrix",
    "csr_matrix",
    "diags",
    "eye",
    "find",
    "hstack",
    "identity",
    "issparse",
    "kron",
    "load_npz",
    "mmread",
    "mmwrite",
    "norm",
    "random",
    "save_npz",
    "tril",
    "triu",
    "vstack",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)
