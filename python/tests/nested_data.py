# SPDX-License-Identifier: Apache-2.0
"""Random nested dtypes and values as pyarrow has them, for tests."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

LEAVES = (pa.int64(), pa.string(), pa.float64(), pa.bool_(), pa.int8(), pa.date32())


def random_type(chance: random.Random, depth: int, maps: bool = True) -> pa.DataType:
    """A type of at most `depth` levels of lists, structs and maps."""
    if depth == 0:
        return chance.choice(LEAVES)
    kind = chance.choice(("list", "struct", "struct", *(["map"] if maps else []), "leaf"))
    if kind == "leaf":
        return chance.choice(LEAVES)
    if kind == "list":
        return pa.large_list(random_type(chance, depth - 1, maps))
    if kind == "map":
        key = chance.choice((pa.string(), pa.int64()))
        return pa.map_(key, random_type(chance, depth - 1, maps))
    names = chance.sample(["x", "y", "a b", "größe", "key"], chance.randrange(4))
    return pa.struct([(name, random_type(chance, depth - 1, maps)) for name in names])


def nested_type(chance: random.Random, depth: int, maps: bool = True) -> pa.DataType:
    """The same, but not of 0 levels."""
    while not pa.types.is_nested(made := random_type(chance, depth, maps)):
        pass
    return made


def random_value(chance: random.Random, dtype: pa.DataType, nulls: float = 0.2) -> Any:
    """A value of the type as pyarrow takes and gives it; None with a chance at each level."""
    if chance.random() < nulls:
        return None
    if pa.types.is_struct(dtype):
        return {field.name: random_value(chance, field.type, nulls) for field in dtype}
    if pa.types.is_map(dtype):
        keys = {random_value(chance, dtype.key_type, 0.0) for _ in range(chance.randrange(3))}
        return [(key, random_value(chance, dtype.item_type, nulls)) for key in sorted(keys)]
    if pa.types.is_large_list(dtype) or pa.types.is_list(dtype):
        return [random_value(chance, dtype.value_type, nulls) for _ in range(chance.randrange(4))]
    if pa.types.is_floating(dtype):
        return chance.choice((0.5, -1.25, float("inf"), 3e300))
    if pa.types.is_boolean(dtype):
        return chance.random() < 0.5
    if pa.types.is_date32(dtype):
        return pa.scalar(chance.randrange(20_000), pa.date32()).as_py()
    if pa.types.is_string(dtype):
        return chance.choice(("", "a", "ünï", "x" * 12, "longer than twelve bytes"))
    return chance.randrange(-100, 100)


def random_array(
    chance: random.Random, dtype: pa.DataType, rows: int, nulls: float = 0.2
) -> pa.Array:
    """An array of such values."""
    return pa.array([random_value(chance, dtype, nulls) for _ in range(rows)], dtype)
