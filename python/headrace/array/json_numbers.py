# SPDX-License-Identifier: Apache-2.0
"""Deferred single values in `json.dumps`.

The encoder reads subclasses of float and int from their own memory, which a value that is not
computed yet does not have. It asks `default` about everything else before it raises: this answers.
"""

from __future__ import annotations

import json
from typing import Any

from headrace.lazy.handle import is_array

_refuse = json.JSONEncoder.default


def _default(encoder: json.JSONEncoder, value: Any) -> Any:
    if is_array(value) and not value.ndim:
        return value.item()
    return _refuse(encoder, value)


def install() -> None:
    """Let `json` write arrays of one value as numbers."""
    json.JSONEncoder.default = _default  # type: ignore[method-assign, assignment]
