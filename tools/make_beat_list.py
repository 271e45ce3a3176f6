#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the beat list of the real ECG record: two detectors propose, a human reader decides.

It prints where the detectors differ and checks that the committed list is up to date; `--write`
writes it, `--strips FOLDER` draws the record in 30 strips of ten seconds with the list on it (needs
matplotlib). Uses NumPy and SciPy. See testdata/README.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy import ndimage, signal

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "python/headrace/demo/record.npz"
BEATS = ROOT / "testdata/ecg/beats.csv"
RATE = 360
TOLERANCE = 36  # samples, 0.1 s: proposals this close are one beat

# What a reader decided at places (seconds) where a detector, or both, were wrong.
NOT_A_BEAT = {
    19.88: "burst of spikes on the T wave, between two beats 0.52 s apart",
    53.34: "swing of the baseline, no QRS",
    86.97: "spikes of movement 0.1 s before the beat at 87.09",
    99.17: "swing of the baseline, no QRS",
}
MISSED_BEAT = {
    44.10: "a QRS of 0.5 mV while the amplifier recovers; 0.55 s before the next one",
    213.59: "a QRS of 0.25 mV while the amplifier recovers; 0.55 s before the next one",
}
LABELS_BY_EYE = {
    42.38: "N",  # narrow; only the step of the electrode behind it measures as wide
    45.21: "N",  # narrow; small while the amplifier recovers
    87.09: "V",  # wide and followed by a deep wave, on moving ground
    94.11: "N",  # tall only next to the small beats after it
    99.42: "N",  # narrow, in noise
}


def detect_by_energy(x):
    """Find beats as Pan and Tompkins do: 6 to 18 Hz, slope, energy over 0.12 s, local threshold."""
    band = signal.sosfiltfilt(signal.butter(2, (6, 18), "bandpass", fs=RATE, output="sos"), x)
    energy = np.sqrt(ndimage.uniform_filter1d(np.gradient(band) ** 2, int(0.12 * RATE)))
    # The size of beats over ten seconds, on every twelfth sample.
    usual = ndimage.percentile_filter(energy[::12], 98, size=10 * RATE // 12)
    usual = np.repeat(usual, 12)[: len(x)]
    peaks, _ = signal.find_peaks(energy, distance=int(0.25 * RATE))
    return peaks[energy[peaks] > 0.35 * usual[peaks]]


def detect_by_shape(x):
    """Find beats as peaks over a median baseline that fall 0.6 mV within 0.11 s on both sides."""
    smooth = signal.sosfiltfilt(signal.butter(4, 25, "low", fs=RATE, output="sos"), x)
    baseline = ndimage.median_filter(x, int(0.2 * RATE) | 1)
    baseline = ndimage.median_filter(baseline, int(0.6 * RATE) | 1)
    raised = smooth - baseline
    peaks, _ = signal.find_peaks(raised, distance=int(0.25 * RATE), prominence=0.5, height=0.45)
    reach = int(0.11 * RATE)
    fall = [
        raised[i] - max(raised[max(0, i - reach) : i + 1].min(), raised[i : i + reach + 1].min())
        for i in peaks
    ]
    return peaks[np.array(fall) > 0.6]


def crest(x, near, reach=25):
    """Return the mark of a beat: the highest sample (the first of equals) of its upright wave."""
    begin = max(0, near - reach)
    return begin + int(np.argmax(x[begin : near + reach + 1]))


def proposals(x):
    """Merge both detectors: position -> the detectors that found it."""
    by_energy, by_shape = detect_by_energy(x), detect_by_shape(x)
    found = {crest(x, i): "shape" for i in by_shape}
    for i in by_energy:
        near = [j for j in by_shape if abs(int(i) - int(j)) <= TOLERANCE]
        found[crest(x, near[0] if near else i)] = "both" if near else "energy"
    return dict(sorted(found.items()))


def at(table, i, reach=0.03):
    """Return the entry of a table by seconds that is near sample i."""
    return next((value for second, value in table.items() if abs(i / RATE - second) < reach), None)


def decided(x):
    """Return the positions of all beats after the reader's decisions."""
    beats = [i for i in proposals(x) if at(NOT_A_BEAT, i) is None]
    beats += [crest(x, round(second * RATE), 10) for second in MISSED_BEAT]
    return np.array(sorted(beats))


def labels(x, beats):
    """Label each beat N, F or V by width, upstroke, T wave and height next to its neighbours."""
    smooth = ndimage.gaussian_filter1d(x, 1.0)
    end = len(x) - 1
    width, upstroke, height, t_wave = np.zeros((4, len(beats)))
    for k, i in enumerate(beats):
        before = np.median(x[i - 36 : i - 22]) if i > 40 else x[max(0, i - 20)]
        height[k] = x[i] - before

        def reach(level, step, i=i):
            j = i
            while 0 < j < end and smooth[j] > level and abs(j - i) < 60:
                j += step
            return abs(j - i) / RATE

        half, quarter = before + height[k] / 2, before + height[k] / 4
        width[k] = reach(half, -1) + reach(half, 1)
        upstroke[k] = reach(quarter, -1)
        t_wave[k] = x[i + 65 : i + 115].max() - np.median(x[i + 14 : i + 34])
    result = []
    for k, i in enumerate(beats):
        near = slice(max(0, k - 15), k + 16)
        tall = height[k] / np.median(height[near][width[near] < 0.032])
        fused = upstroke[k] > 0.024 or width[k] > 0.032 or (tall >= 1.25 and t_wave[k] < 0.36)
        label = "V" if width[k] >= 0.06 else "F" if fused else "N"
        result.append(at(LABELS_BY_EYE, i) or label)
    return np.array(result)


def draw(x, beats, kinds, folder):
    """Draw one PNG per strip of ten seconds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for strip in range(len(x) // (10 * RATE)):
        begin, stop = strip * 10 * RATE, (strip + 1) * 10 * RATE
        figure, axes = plt.subplots(figsize=(20, 6), layout="constrained")
        axes.plot(np.arange(begin, stop) / RATE, x[begin:stop], "k", lw=0.9)
        for i, kind in zip(beats, kinds):
            if begin <= i < stop:
                color = {"N": "tab:green", "F": "tab:orange", "V": "tab:red"}[kind]
                axes.plot(i / RATE, x[i], "o", mfc="none", color=color)
                axes.text(i / RATE, x[i] + 0.08, kind, color=color)
        axes.set(xlim=(begin / RATE, stop / RATE), xlabel="seconds", ylabel="mV")
        axes.grid(alpha=0.3)
        figure.savefig(folder / f"strip_{strip:02d}.png", dpi=72)
        plt.close(figure)


def main() -> int:
    """Make the list; compare, write or draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--strips", type=Path)
    options = parser.parse_args()

    with np.load(RECORD, allow_pickle=False) as stored:
        x = stored["ecg"]
    found = proposals(x)
    votes = list(found.values())
    print({vote: votes.count(vote) for vote in ("both", "energy", "shape")})
    alone = [f"{i / RATE:.2f} {vote}" for i, vote in found.items() if vote != "both"]
    print("one detector only:", *alone, sep="\n  ")
    beats = decided(x)
    kinds = labels(x, beats)
    print({kind: int((kinds == kind).sum()) for kind in "NFV"}, len(beats))
    if options.strips:
        draw(x, beats, kinds, options.strips)
    text = "sample,label\n" + "".join(f"{i},{kind}\n" for i, kind in zip(beats, kinds))
    if options.write:
        BEATS.write_text(text)
        np.savez_compressed(RECORD, ecg=x, beats=beats.astype(np.int32), labels=kinds)
    elif BEATS.read_text() != text:
        print(f"{BEATS.relative_to(ROOT)} differs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
