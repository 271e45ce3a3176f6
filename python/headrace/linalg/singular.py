# SPDX-License-Identifier: Apache-2.0
"""The error of singular and indefinite matrices; imported when it is needed, for it needs NumPy."""

from __future__ import annotations

import numpy as np

from headrace.errors import InvalidArgumentError


class LinAlgError(InvalidArgumentError, np.linalg.LinAlgError):
    """A matrix that has no such factors: it is singular, indefinite, not square or not finite."""


LinAlgError.__module__ = "headrace.linalg"
