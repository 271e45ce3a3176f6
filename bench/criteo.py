# SPDX-License-Identifier: Apache-2.0
"""Category codes and target encodings of a table like Criteo's, beyond the memory limit.

Makes 13 integers, 26 columns of words and a label in Parquet files of 1,000,000 rows; encodes the
words under the limit, then their codes by the label out of fold; compares with pandas: counts of
two columns over all files, and their codes and encodings in one of the files.

    python bench/criteo.py --rows 50000000 --limit 1GiB --folder /scratch
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

import headrace as hr

PART = 1_000_000
#: Levels of the columns of words, about those of Criteo's.
LEVELS = [
    *(1400, 600, 3_000_000, 1_000_000, 300, 24, 12_000, 630, 3, 90_000, 5600, 2_700_000, 3200),
    *(27, 14_000, 1_900_000, 10, 5600, 2100, 4, 2_400_000, 18, 15, 280_000, 100, 140_000),
]
WORDS = [f"c{k}" for k in range(len(LEVELS))]
COMPARED = ("c2", "c10")
MIN_COUNT = 3


def made(part: int, rows: int) -> hr.DataFrame:
    """The rows of a part: skewed words, some missing, and a label that depends on them."""
    rng = np.random.default_rng([5, part])
    label = rng.random(rows) < 0.25
    columns: dict[str, object] = {f"i{k}": rng.poisson(3 + 10 * k, rows) for k in range(13)}
    for name, levels in zip(WORDS, LEVELS, strict=True):
        number = (rng.pareto(0.7, rows) * levels / 200).astype(np.int64) % levels
        if name in COMPARED:
            label |= (number % 7 == 0) & (rng.random(rows) < 0.1)
        words = hr.Series(number * 2654435761 % 2**32)
        columns[name] = words.mask(hr.Series(rng.random(rows) < 0.05)).astype("string")
    return hr.DataFrame({"label": label.astype(np.int8), **columns})


def make(folder: Path, rows: int) -> list[Path]:
    """Write the files that are not there."""
    paths = []
    for part, begin in enumerate(range(0, rows, PART)):
        path = folder / f"part-{part:03d}.parquet"
        paths.append(path)
        if not path.exists():
            made(part, min(PART, rows - begin)).to_parquet(path)
    return paths


def main() -> None:
    """Make, encode, compare; print a line of JSON for each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--limit", default="1GiB")
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    source = options.folder / "criteo"
    source.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()

    def tell(step: str, **more: object) -> None:
        nonlocal begin
        now = time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # mapped files counted
        status = Path("/proc/self/status").read_text().split()
        own = int(status[status.index("RssAnon:") + 1]) * 1024
        row = {"step": step, "rows": options.rows, "seconds": round(now - begin, 1)}
        print(json.dumps({**row, "peak_rss": peak, "anonymous_rss": own, **more}), flush=True)
        begin = time.perf_counter()

    with ProcessPoolExecutor(
        1, get_context("spawn")
    ) as maker:  # its memory is not that of encoding
        paths = maker.submit(make, source, options.rows).result()
    tell("make files")
    codes, encoded = options.folder / "codes.parquet", options.folder / "encoded.parquet"
    with hr.memory.limit(options.limit):
        scan = hr.scan_parquet([str(path) for path in paths])
        encoder = hr.learn.CategoryEncoder(min_count=MIN_COUNT)
        encoder.set_output(transform="headrace").fit(scan[WORDS])
        tell("fit categories", sizes=sum(encoder.sizes_))
        made_codes = encoder.transform(scan[WORDS])
        made_codes.assign(label=scan["label"]).to_parquet(codes)
        del made_codes
        tell("write codes")
        coded = hr.scan_parquet(str(codes))
        target = hr.learn.TargetEncoder(target_type="binary", smooth=20.0, cv=5)
        made_means = target.set_output(transform="headrace").fit_transform(
            coded[WORDS], coded["label"]
        )
        tell("fit target encodings, out of fold")
        made_means.to_parquet(encoded)
        del made_means
        tell("write target encodings")
    compare(paths, codes, encoder, target)
    tell("compare with pandas", equal=True)


def compare(
    paths: list[Path],
    codes: Path,
    encoder: hr.learn.CategoryEncoder,
    target: hr.learn.TargetEncoder,
) -> None:
    """Raise AssertionError where pandas finds other counts, codes or encodings."""
    rows = hr.scan_parquet(str(codes))
    for name in COMPARED:
        total = None
        for path in paths:
            part = pd.read_parquet(path, columns=[name, "label"])
            part = part.groupby(name, sort=False)["label"].agg(["size", "sum"])
            total = part if total is None else total.add(part, fill_value=0)
        assert total is not None
        place = WORDS.index(name)
        known = encoder.categories_[place].to_list()
        counts = total["size"].loc[known].to_numpy().astype(np.int64)
        assert (counts == encoder.counts_[place].to_numpy()).all()
        assert (np.diff(counts) <= 0).all() and len(known) == (total["size"] >= MIN_COUNT).sum()
        word_codes = pd.Series(np.arange(3, 3 + len(known)), index=known)
        first = pd.read_parquet(paths[0], columns=[name])[name]
        wanted = first.map(word_codes).fillna(2).where(first.notna(), 1).astype(np.int32)
        ours = rows[name].head(len(first)).to_numpy()
        assert (ours == wanted.to_numpy()).all()
        levels = target.categories_[place]
        mean = float(target.target_mean_)
        sums = total["sum"].loc[known].to_numpy()
        encodings = (sums + 20 * mean) / (counts + 20)
        seen = np.searchsorted(levels, word_codes.to_numpy())
        np.testing.assert_allclose(target.encodings_[place][seen], encodings, rtol=1e-9)


if __name__ == "__main__":
    main()
