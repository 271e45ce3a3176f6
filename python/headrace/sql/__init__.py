# SPDX-License-Identifier: Apache-2.0
"""SQL over frames: `hr.sql(query, table=frame)` plans a query onto the engine's operators.

>>> loans = hr.DataFrame({"state": ["CA", "NY", "CA"], "amount": [10, 20, 30]})
>>> hr.sql("select state, sum(amount) as total from loans group by state order by state").to_dict()
{'state': ['CA', 'NY'], 'total': [40, 20]}
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from headrace.facade import on_first_use

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.sql.context import Context as Context

__all__ = ["Context", "register", "unregister"]

#: The frames of `register`.
_registered: dict[str, Any] = {}


def register(name: str, frame: Any) -> None:
    """Name a frame for all queries of `hr.sql`.

    >>> hr.sql.register("points", hr.DataFrame({"x": [1, 2]}))
    >>> hr.sql("select max(x) as most from points").to_dict()
    {'most': [2]}
    >>> hr.sql.unregister("points")
    """
    _registered[name.lower()] = frame


def unregister(name: str) -> None:
    """Forget a frame of `register`."""
    _registered.pop(name.lower(), None)


class _Callable(ModuleType):
    """The module as the function `hr.sql`."""

    def __call__(
        self, query: str, /, *, dialect: str = "duckdb", params: Any = None, **frames: Any
    ) -> DataFrame:
        """Plan a query over frames; the result is a lazy frame.

        Tables are the frames passed by name, then those of `register`, then variables of the
        caller: frames, and pandas, Polars or Arrow tables. Names are the same in any case.

        >>> hr.sql("select x + 1 as y from t where x > ?", params=[1],
        ...        t=hr.DataFrame({"x": [1, 2]})).to_dict()
        {'y': [3]}
        """
        from headrace.sql.context import PLANS, run

        return run(query, frames, _registered, dialect, params, True, PLANS)

    def __reduce__(self) -> tuple[Any, ...]:
        # See `headrace._first_use.ModuleOfFunctions`.
        return import_module, (self.__name__,)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext headrace.sql``."""
    from headrace.sql.magic import register_magic

    register_magic(shell, _registered)


__getattr__ = on_first_use(__name__, {"context": "Context"})

sys.modules[__name__].__class__ = _Callable
