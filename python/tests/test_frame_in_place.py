# SPDX-License-Identifier: Apache-2.0
"""`inplace=True` leaves what pandas leaves."""

from __future__ import annotations

import inspect
from typing import Any

import pandas as pd
import pytest

import headrace as hr

CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "drop": ((), {"columns": ["b"]}),
    "rename": ((), {"columns": {"a": "z"}}),
    "fillna": ((0,), {}),
    "dropna": ((), {"subset": ["a"]}),
    "sort_values": ((["g", "a"],), {"ascending": [False, True]}),
    "sort_index": ((), {"ascending": False}),
    "drop_duplicates": (("g",), {"keep": "last"}),
    "replace": ((2.0, 20.0), {}),
    "set_index": (("g",), {"drop": True}),
    "reset_index": ((), {"drop": True}),
}
DATA = {"a": [2.0, None, 1.0, 2.0], "b": [1.0, 2.0, None, 4.0], "g": ["x", "y", "x", "z"]}


@pytest.mark.parametrize("name", CALLS)
def test_the_frame_is_what_the_method_makes(name: str) -> None:
    values, options = CALLS[name]
    data = {**DATA, "g": [1, 2, 1, 3]} if name == "fillna" else DATA
    ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
    column = ours.a
    made = getattr(ours, name)(*values, **options)
    assert getattr(ours, name)(*values, **options, inplace=True) is None
    assert ours.to_dict() == made.to_dict()
    wanted = getattr(theirs, name)(*values, **options).reset_index(drop=True)
    shown = ours.to_pandas().reset_index(drop=True).astype(wanted.dtypes.to_dict())
    pd.testing.assert_frame_equal(shown, wanted)
    assert [v for v in column.to_list() if v is not None] == [2.0, 1.0, 2.0]


def test_an_error_leaves_the_frame() -> None:
    frame = hr.DataFrame(DATA)
    with pytest.raises(KeyError, match="nope"):
        frame.drop(columns=["nope"], inplace=True)
    assert frame.columns == ["a", "b", "g"]
    assert inspect.signature(hr.DataFrame.dropna).parameters["inplace"].default is False
