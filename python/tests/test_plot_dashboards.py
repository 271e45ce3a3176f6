# SPDX-License-Identifier: Apache-2.0
"""Linked charts hold NumPy's numbers under any brushes; what is brushed is a lazy frame."""

import datetime

import numpy as np
import pytest

import headrace as hr

p = hr.plot
ROWS = 3000


def flights(rows: int = ROWS, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of all kinds, with missing values."""
    rng = np.random.default_rng(seed)
    delay = rng.gamma(2, 20, rows) - 20
    delay[rng.random(rows) < 0.05] = np.nan
    return {
        "delay": delay,
        "narrow": rng.normal(size=rows).astype(np.float32),
        "distance": rng.integers(80, 5000, rows),
        "hour": rng.integers(0, 24, rows).astype(np.int8),
        "day": np.datetime64("2013-01-01") + rng.integers(0, 365, rows).astype("m8[D]"),
        "at": np.datetime64("2013-01-01T00:00:00.000000001")
        + rng.integers(0, 10**15, rows).astype("m8[ns]"),
        "carrier": np.array([*"ABCDEFGH", None], dtype=object)[rng.integers(0, 9, rows)],
        "late": rng.random(rows) < 0.3,
    }


def frame_of(columns: dict[str, np.ndarray]) -> hr.DataFrame:
    words = {name: list(v) for name, v in columns.items() if v.dtype == object}
    made = {name: hr.Series(words.get(name, v), dtype="string" if name in words else None)
            for name, v in columns.items()}  # fmt: skip
    return hr.DataFrame(made)


def board_of(columns: dict[str, np.ndarray]) -> p.Board:
    charts = [
        p.histogram("delay"), p.histogram("narrow", bins=17), p.histogram("distance"),
        p.histogram("hour"), p.histogram("day"), p.histogram("at"), p.bar("carrier"),
        p.bar("late", value="delay", agg="mean"), p.heatmap("hour", "carrier"),
        p.heatmap("distance", "narrow", "sum", "delay", bins=(7, 5)),
        p.points("delay", "narrow", color="carrier"), p.trend("day", "distance"),
        p.series("narrow", rate=10), p.number("delay", "mean"), p.number(),
    ]  # fmt: skip
    return p.dashboard(frame_of(columns), charts, title="all kinds")


def cell(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bin of each value, as np.histogram has it; -1 outside."""
    found = np.searchsorted(edges, values, "right") - 1
    found[values == edges[-1]] = len(edges) - 2
    inside = (values >= edges[0]) & (values <= edges[-1])
    return np.where(inside, found, -1)


def place(columns, column, view, k=None) -> tuple[np.ndarray, int]:
    """By row the cell along an axis, and the number of cells."""
    values = columns[column]
    if column in ("carrier", "late"):
        known = {key: at for at, key in enumerate(view.labels)}
        return np.array([known.get(each, -1) for each in values.tolist()]), len(known)
    edges = np.asarray(view.edges if k is None else view._axes[1 - k].edges())
    return cell(values, edges), len(edges) - 1


def expected(columns, view, kept) -> np.ndarray:
    """What NumPy counts of the rows in `kept`."""
    chart = view.chart
    if chart.kind == "series":
        steps = view._axes[0].fine
        at = (np.arange(len(kept)) * steps + steps - 1) // len(kept)
        at = np.array([next(c for c in (a, a - 1, a + 1) if c * len(kept) // steps <= r
                            < (c + 1) * len(kept) // steps) for r, a in enumerate(at)])  # fmt: skip
        return np.bincount(at[kept], minlength=steps)
    value = None if chart.value is None else columns[chart.value].astype(float)
    if value is not None:
        kept = kept & ~np.isnan(value)
    axes = list(chart.axes)
    if not axes:
        return np.array(kept.sum() if value is None else value[kept].sum())
    if len(axes) == 1:
        at, count = place(columns, axes[0], view)
    else:
        (x, wide), (y, high) = (place(columns, axis, view, k) for k, axis in enumerate(axes))
        at, count = np.where((x < 0) | (y < 0), -1, y * wide + x), wide * high
    kept = kept & (at >= 0)
    weights = None if value is None else value[kept]
    return np.bincount(at[kept], weights=weights, minlength=count)


def random_brush(rng, view) -> tuple[tuple, object]:
    """Arguments of `select`, and the mask that they mean."""

    def ends(axis, values):
        first, last = np.sort(rng.choice(axis.fine + 1, 2, replace=False)).tolist()
        low, high = axis.at(first), axis.at(last)
        if rng.random() < 0.3 and axis.unit == "" and high - low > 4:
            low = low + 1.25  # not an edge
        at = values.astype(np.int64) if axis.unit else values
        given = [np.datetime64(e, {"date": "D"}.get(axis.unit, axis.unit)) if axis.unit else e
                 for e in (low, high)]  # fmt: skip
        return given, (at >= low) & ((at <= high) if last == axis.fine else (at < high))

    return ends


@pytest.mark.parametrize("seed", range(4))
def test_numbers_equal_numpys_after_random_brushes(seed):
    columns = flights(seed=seed)
    board = board_of(columns)
    rng = np.random.default_rng(seed)
    masks: dict[str, np.ndarray] = {}
    brushed = [v for v in board.charts.values() if v._brushed()]
    for step in range(250):
        view = brushed[rng.integers(len(brushed))]
        ends = random_brush(rng, view)
        axes, names = view._brushed(), list(view.chart.axes)
        if rng.random() < 0.25:
            board.clear(view.name)
            masks.pop(view.name, None)
        elif view.chart.kind == "series":
            low, high = np.sort(rng.choice(ROWS, 2, replace=False)).tolist()
            board.select(view.name, low / 10, high / 10)
            rows = np.arange(ROWS)
            masks[view.name] = (rows >= low) & (rows < high)
        elif len(axes) == 1 and axes[0].kind == "key":
            some = [key for key in view.labels if rng.random() < 0.5]
            board.select(view.name, some)
            masks[view.name] = np.isin(columns[names[0]].astype(str), np.array(some).astype(str))
        else:
            given, mask = [], np.ones(ROWS, bool)
            for name, axis in zip(names, axes, strict=True):
                if axis.kind == "key":
                    first, last = np.sort(rng.integers(0, len(axis.labels), 2)).tolist()
                    given.append((axis.labels[first], axis.labels[last]))
                    mask &= np.isin(columns[name].astype(str), axis.labels[first : last + 1])
                else:
                    pair, inside = ends(axis, columns[name])
                    given.append(tuple(pair))
                    mask &= inside
            board.select(view.name, *(given[0] if len(axes) == 1 else given))
            masks[view.name] = mask
        if step % 5 and step < 240:
            continue  # several brushes at a time
        for each in board.charts.values():
            kept = np.ones(ROWS, bool)
            for name, mask in masks.items():
                if name != each.name:
                    kept &= mask
            counted = each.chart.value is None or each.chart.kind == "series"
            got = (each.counts if counted else each.sums).to_numpy()
            if each.chart.kind == "points":
                got = got.sum(axis=-1)
            wanted = expected(columns, each, kept)
            np.testing.assert_allclose(got.ravel(), wanted.ravel(), rtol=1e-12, err_msg=each.name)
        whole = np.ones(ROWS, bool)
        for mask in masks.values():
            whole &= mask
        assert len(board.frame) == whole.sum()
        np.testing.assert_array_equal(board.frame.distance.to_numpy(), columns["distance"][whole])


def test_a_cube_holds_each_brush():
    """What the page sums of a cube is what Python counts."""
    board = board_of(flights())
    rng = np.random.default_rng(5)
    board.select("carrier", ["A", "B", "C"])
    for view in [v for v in board.charts.values() if v._brushed()]:
        board.clear(view.name)
        per, steps, cells = board._cube(view._index)
        others = [v for v in board.charts.values() if v is not view]
        for _ in range(3):
            if len(steps) == 1 and view._brushed()[0].kind == "key":
                chosen = [c for c in range(steps[0]) if rng.random() < 0.5]
                board._choose({view._index: chosen}, {view._index})
                rows = np.array(chosen, int)
            else:
                grid, pairs = [], []
                for axis, count in zip(view._brushed(), steps, strict=True):
                    low, high = np.sort(rng.choice(count + 1, 2, replace=False)).tolist()
                    grid.append(np.arange(low, high))
                    wide = 1 if axis.kind == "key" else per
                    most = count if axis.kind == "key" else axis.fine
                    pairs.append([low * wide, min(high * wide, most)])
                keep = {str(k): board._views[k]._shown(s) for k, (s, _) in board._selected.items()}
                board._choose_steps({**keep, str(view._index): pairs})
                rows = (
                    np.add.outer(grid[0] * steps[1], grid[1]).ravel() if len(grid) == 2 else grid[0]
                )
            for other, (counts, sums) in zip(others, cells, strict=False):
                flat = counts.reshape(int(np.prod(steps)), -1)
                np.testing.assert_array_equal(flat[rows].sum(0), other.counts.to_numpy().ravel())
                if sums is not None:
                    got = sums.reshape(int(np.prod(steps)), -1)[rows].sum(0)
                    np.testing.assert_allclose(got, other.sums.to_numpy().ravel(), rtol=1e-9)
            assert cells[-1][0].ravel()[rows].sum() == len(board.frame)


def test_bins_are_round_and_hold_everything():
    columns = flights()
    board = board_of(columns)
    assert board.charts["hour"].edges.tolist() == list(range(25))
    assert board.charts["day"].edges.dtype.kind == "M"
    for name in ("delay", "narrow", "distance", "at"):
        view = board.charts[name]
        values = columns[name]
        assert view.counts.sum().item() == np.sum(values == values)
        assert 10 <= len(view.counts) <= 60
    edges = np.asarray(board.charts["narrow"].edges)
    counts, _ = np.histogram(columns["narrow"].astype(float), edges)
    assert board.charts["narrow"].counts.tolist() == counts.tolist() and len(counts) == 17
    many = hr.DataFrame({"k": [f"key {i % 5000}" for i in range(20_000)] + ["often"] * 9})
    shown = p.dashboard(many, [p.bar("k", top=3)]).charts["k"]
    assert shown.labels[0] == "often" and len(shown.labels) == 3
    assert shown.counts.tolist() == [9, 4, 4]


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65])
def test_few_rows(rows):
    columns = flights(rows)
    board = board_of(columns)
    for view in board.charts.values():
        assert view.values is not None
    assert len(board.frame) == rows and len(board.to_html()) > 1000


def test_values_at_the_ends():
    """Constant columns, infinities, the ends of int64 and uint64, only nulls."""
    frame = hr.DataFrame(
        {
            "constant": [7.25] * 4,
            "infinite": [np.inf, -np.inf, 1.0, 2.0],
            "wide": np.array([-(2**63), 2**63 - 1, 0, 5]),
            "unsigned": np.array([0, 2**64 - 1, 1, 2], np.uint64),
            "far": np.array([1e300, 1e300, -1e300, 0]),
            "close": np.array([1.0, np.nextafter(1, 2), 1.0, 1.0]),
            "none": np.full(4, np.nan),
        }
    )
    board = p.dashboard(frame, [p.histogram(name) for name in frame.columns])
    totals = {name: view.counts.sum().item() for name, view in board.charts.items()}
    assert totals == {"constant": 4, "infinite": 2, "wide": 4, "unsigned": 4, "far": 4, "close": 4,
                      "none": 0}  # fmt: skip


def test_times_and_keys_select():
    frame = frame_of(flights())
    board = p.dashboard(frame, [p.histogram("day"), p.histogram("at"), p.bar("late")])
    board.select("day", datetime.date(2013, 3, 1), "2013-04-01")
    march = frame.day.dt.month == 3
    assert len(board.frame) == march.sum().item()
    assert board.charts["at"].counts.sum().item() == march.sum().item()
    board.clear()
    board.select("late", [True])
    assert len(board.frame) == frame.late.sum().item()
    assert frame[board.filter].equals(board.frame)
    board.select("late", [])
    assert len(board.frame) == 0
    board.clear()
    assert len(frame[board.filter]) == ROWS


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    frame = hr.DataFrame({"k": rng.integers(0, 9, 400_000), "v": rng.normal(size=400_000)})
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            board = p.dashboard(frame, [p.bar("k", "v", "sum"), p.histogram("v")])
            board.select("v", -1.0, 1.0)
            found.append(board.charts["k"].sums.to_numpy().tobytes())
    assert len(set(found)) == 1


def test_close_frees_what_was_counted():
    rows = 1_000_000
    frame = hr.DataFrame({"x": np.arange(rows) % 1000 / 7, "k": np.arange(rows) % 7})
    hr.eval(frame)
    board = p.dashboard(frame, [p.histogram("x"), p.bar("k")])
    before = hr.memory.stats().used_bytes
    counts = board.charts["x"].counts.tolist()
    held = hr.memory.stats().used_bytes - before
    board.close()
    assert held >= 2 * rows and hr.memory.stats().used_bytes - before < rows
    assert board.charts["x"].counts.tolist() == counts


def test_boards_over_one_frame_share_the_categories_of_keys():
    frame = hr.DataFrame({"k": ["b", "a", "b"], "n": [1, 1, 2]})
    first, second = (p.dashboard(frame, [p.bar("k"), p.bar("n")]) for _ in range(2))
    for one, other in zip(first._views, second._views, strict=True):
        assert one._axes[0]._categories is other._axes[0]._categories
    frame["k"] = ["c", "c", "c"]
    assert p.dashboard(frame, [p.bar("k")]).charts["k"].labels == ["c"]
    assert first.charts["k"].labels == ["b", "a"]


def test_keys_in_memory_that_others_write_are_read_again():
    keys = np.array([1, 1, 2])
    frame = hr.DataFrame({"k": hr.asarray(keys)})
    board = p.dashboard(frame, [p.bar("k")])
    assert board.charts["k"].counts.tolist() == [2, 1]
    keys[0] = 2
    assert p.dashboard(frame, [p.bar("k")]).charts["k"].counts.tolist() == [1, 2]


def test_mistakes_name_the_fix():
    frame = frame_of(flights(10))
    with pytest.raises(hr.ColumnNotFoundError, match="delai"):
        p.dashboard(frame, [p.histogram("delai")])
    with pytest.raises(hr.ColumnNotFoundError, match=r"unknown chart.*'delay'"):
        p.dashboard(frame, [p.histogram("delay")]).select("nothing", 0, 1)
    with pytest.raises(hr.TypeMismatchError, match=r"hr\.DataFrame"):
        p.dashboard({"x": [1]}, [p.histogram("x")])
    with pytest.raises(hr.TypeMismatchError, match=r"hr\.plot\.histogram"):
        p.dashboard(frame, ["delay"])
    with pytest.raises(hr.InvalidArgumentError, match="1 to 30"):
        p.dashboard(frame, [])
    with pytest.raises(hr.TypeMismatchError, match="use a histogram"):
        p.dashboard(frame, [p.bar("delay")])
    with pytest.raises(hr.TypeMismatchError, match="expected numbers"):
        p.dashboard(frame, [p.bar("late", "carrier", "sum")]).charts["late"].sums
    with pytest.raises(hr.InvalidArgumentError, match="median"):
        p.bar("late", "delay", "median")
    with pytest.raises(hr.InvalidArgumentError, match="takes none"):
        p.bar("late", "delay")
    with pytest.raises(hr.InvalidArgumentError, match="range is empty"):
        p.dashboard(frame, [p.histogram("delay", range=(3, 3))])
    with pytest.raises(hr.InvalidArgumentError, match="layout"):
        p.dashboard(frame, [p.histogram("delay")], layout=[["other"]])
    board = board_of(flights(50))
    for name, low, high in [
        ("delay", 5, 5), ("delay", None, 3), ("delay", "a", "b"), ("carrier", ["Z"], None),
        ("carrier", ["A"], ["B"]), ("mean of delay", 1, 2), ("hour, carrier", 1, 2),
        ("day", 1.5, "x"), ("delay", float("nan"), 1.0),
    ]:  # fmt: skip
        with pytest.raises(hr.Error, match="select"):
            board.select(name, low, high)
    assert len(board.frame) == 50
    with pytest.raises(hr.InvalidArgumentError, match=r"\.html"):
        board.save("board.png")
