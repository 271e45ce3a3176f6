# SPDX-License-Identifier: Apache-2.0
"""Linear algebra with NumPy's names, defaults and result shapes, of matrices and stacks of them.

Products are lazy; factorizations run at the call. float32 and float64 stay what they are, integers
and bools become float64 in factorizations. The last bits do not depend on the number of threads or
on the processor. Operands are arrays, frames, series without nulls, or what `hr.asarray` takes. On
a GPU products run there, and `solve`, `inv`, `det` and `slogdet` of one float64 matrix, which round
otherwise than the CPU; the rest runs on the host, as `hr.fallbacks` lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import missing_of_module
from headrace.linalg.equations import det, inv, lstsq, matrix_rank, pinv, slogdet, solve
from headrace.linalg.factors import cholesky, eigh, eigvalsh, qr, svd, svdvals
from headrace.linalg.norms import norm
from headrace.linalg.products import dot, einsum, inner, matmul, outer, tensordot, trace

if TYPE_CHECKING:
    from headrace.linalg.singular import LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "det",
    "dot",
    "eigh",
    "eigvalsh",
    "einsum",
    "inner",
    "inv",
    "lstsq",
    "matmul",
    "matrix_rank",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name == "LinAlgError":
        from headrace.linalg.singular import LinAlgError  # needs NumPy

        return LinAlgError
    return missing_of_module(__name__)(name)
