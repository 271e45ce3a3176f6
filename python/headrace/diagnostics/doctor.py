# SPDX-License-Identifier: Apache-2.0
"""`hr.doctor`: what Headrace finds on this machine, what is wrong, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from headrace.diagnostics import libraries, machine
from headrace.diagnostics.check import Check


class Diagnosis(tuple[Check, ...]):
    """The checks: name, state, found, fix; prints as lines, those to act on last."""

    __slots__ = ()

    @property
    def is_broken(self) -> bool:
        """Whether something does not work."""
        return any(each.state == "broken" for each in self)

    def __repr__(self) -> str:
        width = max((len(each.name) for each in self), default=0)
        order = ("ok", "advice", "broken")
        lines = [
            f"{each.state:<6}  {each.name:<{width}}  {each.found}"
            + f"; {each.fix}" * bool(each.fix)
            for each in sorted(self, key=lambda each: order.index(each.state))
        ]
        return "\n".join(lines)


def _checks() -> Iterator[Check]:
    try:
        settings = import_module("headrace.settings")
        core = import_module("headrace").__dict__["_core"]
        budget = import_module("headrace.memory.budget")
        information = settings.info()
    except Exception as error:  # whatever hinders the engine is what is to be found
        fix = "pip install --force-reinstall headrace"
        yield Check("engine", "broken", f"{type(error).__name__}: {error}", fix)
    else:
        found = (
            f"{information['headrace']}, {information['engine']}, Python {information['python']}"
        )
        yield Check("engine", "ok", found)
        yield machine.processor(core.simd_level())
        why_not = core.why_no_cuda() if core.built_with_cuda() else "does not include CUDA"
        yield machine.gpu(settings.engine, why_not, core.version)
        yield machine.memory(budget.limit(), core.machine_memory())
        yield machine.spill(core.spill_directory())
        yield from machine.threads(core.threads(), core.usable_processors())
    yield machine.huge_pages()
    yield machine.process_limits()
    yield machine.clock()
    yield from libraries.libraries()
    yield from libraries.scipy_arrays()


def doctor() -> Diagnosis:
    """Check what Headrace needs of this machine, and say what is wrong and how to mend it.

    Engine and processor, GPU and driver, memory and its limit, the spill directory, threads, limits
    of the process, clock, versions of other libraries. `python -m headrace doctor` prints the same.

    Returns
    -------
    Diagnosis
        A tuple of checks (name, state, found, fix), whose state is ``"ok"``, ``"advice"`` or
        ``"broken"``; prints as lines.

    >>> checks = {check.name: check.state for check in hr.doctor()}
    >>> checks["engine"]
    'ok'
    """
    return Diagnosis(_checks())
