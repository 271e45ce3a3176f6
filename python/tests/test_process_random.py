# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and fork at random moments.

A few moments a run; ``HEADRACE_EXAMPLES=1000`` takes that many of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = int(os.environ.get("HEADRACE_EXAMPLES", "0"))

# One process a run, so that signals meet nobody else. A thread that holds no GIL for long sends
# them; the handler says when the main thread was reached.
INTERRUPTS = """
import json, os, random, signal, sys, tempfile, threading, time
import numpy as np, headrace as hr

moments, folder = int(sys.argv[1]), sys.argv[2]
os.chdir(folder)
rng = np.random.default_rng(5)
rows = 2_000_000
frame = hr.DataFrame({
    "key": rng.integers(0, 100_000, rows),
    "few": rng.integers(0, 7, rows),
    "x": rng.normal(size=rows),
    "y": rng.normal(size=rows),
})
frame["text"] = frame.key.astype("string")
small = hr.DataFrame({"key": np.arange(0, 100_000, 3), "z": np.arange(33_334.0)})
hr.eval(frame, small)
frame.head(1_000_000).to_csv("in.csv")
frame.head(1_000_000).to_parquet("in.parquet")
signal_values = hr.asarray(rng.normal(size=2_000_000))
taps = hr.asarray(rng.normal(size=4_000))
square = rng.normal(size=(200_000, 24))
square.flags.writeable = False
square = hr.asarray(square)

def value(x):
    hr.eval(x)
    return x

def chain():
    x = signal_values
    for _ in range(60):
        x = np.sin(x) * 1.1
    return x.sum().item()

def spilled():
    with hr.memory.limit(hr.memory.Statistics().used_bytes + 40_000_000):
        return value(frame.sort_values("y"))

operations = {
    "sort": lambda: value(frame.sort_values(["x", "few"])),
    "sort of texts": lambda: value(frame.sort_values("text")),
    "spilled sort": spilled,
    "merge": lambda: value(frame.merge(small, on="key")),
    "group": lambda: value(frame.groupby("key").agg({"x": "sum", "y": "median"})),
    "group of texts": lambda: value(frame.groupby("text").x.mean()),
    "distinct": lambda: value(frame.drop_duplicates(["key", "few"])),
    "rank": lambda: value(frame.x.rank()),
    "window": lambda: value(frame.x.rolling(50).median()),
    "quantile": lambda: frame.x.quantile(0.37).item(),
    "regex": lambda: frame.text.str.contains("1.*2|3$").sum().item(),
    "texts": lambda: value(frame.text.str.replace("1", "one")),
    "chain": chain,
    "fft": lambda: value(hr.fft.rfft(signal_values)),
    "convolution": lambda: value(hr.signal.fft_convolve(signal_values, taps)),
    "pca": lambda: value(hr.learn.PCA(3).fit(square).transform(square)),
    "read_csv": lambda: hr.read_csv("in.csv"),
    "read_parquet": lambda: hr.read_parquet("in.parquet"),
    "many small ones": lambda: [value(small.z * k) for k in range(3_000)],
    "concat": lambda: value(hr.concat([frame, frame]).x),
    "to_csv": lambda: frame.to_csv("out.csv"),
    "to_csv soon": lambda: frame.to_csv("out.csv", durable=False),
    "to_parquet": lambda: frame.to_parquet("out.parquet"),
    "picture": lambda: hr.plot.line(signal_values).save("out.png"),
}
outputs = ["out.csv", "out.parquet", "out.png"]
took = {}
for name, operation in operations.items():
    operation()
    begin = time.monotonic()
    operation()
    took[name] = time.monotonic() - begin

def reset():
    for path in outputs:
        with open(path, "w") as file:
            file.write("old")
    os.chmod("out.csv", 0o640)

sent_at = was_sent_at = reached_at = work_at = work = 0.0
def handler(*_):
    global reached_at, work
    reached_at, work = time.monotonic(), time.process_time() - work_at
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)

def send(after, sent):
    global sent_at, was_sent_at, work_at
    if not sent.wait(after):
        sent_at, work_at = time.monotonic(), time.process_time()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        was_sent_at = time.monotonic()

result = {"late": [], "changed": [], "wrong": [], "left": [], "delays": {}, "interrupted": 0,
          "after": 0, "took": took}
sums = (frame.x.sum().item(), frame.groupby("few").x.sum().to_list())
draw = random.Random(moments)
names = list(operations)
reset()
for turn in range(moments):
    name = names[turn % len(names)]
    ended, done = threading.Event(), False
    sender = threading.Thread(target=send, args=(draw.uniform(0, took[name] * 1.05), ended))
    reached_at = 0.0
    hit = True
    try:
        sender.start()
        operations[name]()
        done = True
        ended.set()
        sender.join()
        hit = False
    except KeyboardInterrupt:
        ended.set()
        sender.join()
    if hit and reached_at:
        result["interrupted"] += 1
        delay = reached_at - sent_at
        result["delays"].setdefault(name, []).append(round(delay, 4))
        if delay > 0.3:
            result["late"].append((name, round(delay, 3), round(work, 3)))
        stands = {path: open(path, "rb").read(3) for path in outputs}
        for path, begin in stands.items():
            if begin == b"old":
                continue
            # The time of the name's change says whether the write had ended when the signal came.
            ago = time.time() - os.stat(path).st_ctime
            late = time.monotonic() - ago - was_sent_at
            if done or late < 0:
                result["after"] += 1
            else:
                result["changed"].append((name, path, late))
    if hit:
        left = [each for each in os.listdir(".") if "part" in each]
        if left:
            result["left"].append((name, left))
    if turn % 5 == 0 and (frame.x.sum().item(), frame.groupby("few").x.sum().to_list()) != sums:
        result["wrong"].append(name)
    reset()
print(json.dumps(result))
"""


def test_ctrl_c_at_random_moments(tmp_path: Path) -> None:
    moments = EXAMPLES or 25
    run = [sys.executable, "-c", INTERRUPTS, str(moments), str(tmp_path)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120 + 3 * moments)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    if EXAMPLES:
        print(done.stdout)
    assert result["interrupted"] > moments // 2
    assert (result["changed"], result["wrong"], result["left"]) == ([], [], [])
    # A busy machine answers some later: what counts is the time that it gave to the process.
    assert len(result["late"]) <= moments // 20, result["late"]
    assert [each for each in result["late"] if each[2] > 0.3] == []


FORKS = """
import os, random, signal, sys, threading, time
import numpy as np, headrace as hr

moments = int(sys.argv[1])
hr.threads(3)
frame = hr.DataFrame({"key": np.arange(40_000) % 997, "x": np.arange(40_000.0)})
frame["text"] = frame.key.astype("string")
text = "a,b\\n" + "\\n".join(f"{i},{i / 8}" for i in range(20_000)) + "\\n"
text = text.encode()
many = hr.asarray(np.arange(3_000.0))

def sort(): hr.eval(frame.sort_values("x", ascending=False))
def group(): hr.eval(frame.groupby("text").agg({"x": "sum"}))
def read(): hr.eval(hr.read_csv(text, dtypes={"a": "category"}).b * 2)
def fft(): hr.eval(hr.fft.rfft(many[: 900 + turn % 1000]))
def profile():
    with hr.profile() as steps:
        (frame.x * 2 + 1).sum().item()
    len(steps.steps)
def zones(): hr.eval(hr.Series(["2024-03-05"]).astype("datetime64[us]").dt.tz_localize("UTC"))
def spill():
    with hr.memory.limit(hr.memory.Statistics().used_bytes + 3_000_000):
        hr.eval(hr.concat([frame] * 4).sort_values("x"))

jobs = [sort, group, read, fft, profile, zones]
if len(sys.argv) > 2:
    jobs.append(spill)
turn, stop = 0, False

def work(seed):
    draw = random.Random(seed)
    while not stop:
        try:
            draw.choice(jobs)()
        except hr.OutOfMemoryError:
            assert spill in jobs  # its limit is that of all threads

def child():
    assert hr.DataFrame({"x": [1]}).x.sum().item() == 1
    assert frame.sort_values("x", ascending=False).x.head(1).to_list() == [39_999.0]
    assert len(frame.groupby("text").agg({"x": "sum"})) == 997
    assert len(hr.read_csv(text, dtypes={"a": "category"})) == 20_000
    hr.eval(hr.fft.rfft(many), hr.Series(["2024-03-05"]).astype("datetime64[us]"))
    len(hr.memory.ledger()), hr.fallbacks(), hr.memory.report()

for job in (*jobs, child):  # a child cannot import what another thread was importing: Python's
    job()
draw = random.Random(moments)
for seed in range(3):
    threading.Thread(target=work, args=(seed,), daemon=True).start()
hangs = wrong = 0
for turn in range(moments):
    time.sleep(draw.uniform(0, 0.02))
    pid = os.fork()
    if pid == 0:
        signal.alarm(0)
        try:
            child()
            os._exit(0)
        except hr.OutOfMemoryError:  # what the threads of the parent were making is there for ever
            os._exit(0 if spill in jobs else 1)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
    end = time.monotonic() + 30
    while True:
        got, status = os.waitpid(pid, os.WNOHANG)
        if got or time.monotonic() > end:
            break
        time.sleep(0.002)
    if not got:
        hangs += 1
        if os.environ.get("HEADRACE_KEEP"):
            print("hangs", pid, flush=True)
            time.sleep(1000)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    elif status:
        wrong += 1
        print("status", status, file=sys.stderr)
print(hangs, wrong, flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("ways", [[], ["spill"]], ids=["memory", "spill"])
def test_fork_at_random_moments_beside_threads_that_evaluate(ways: list[str]) -> None:
    moments = EXAMPLES or 20
    run = [sys.executable, "-W", "ignore", "-c", FORKS, str(moments), *ways]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120 + 3 * moments)
    assert (done.returncode, done.stdout) == (0, "0 0\n"), done.stderr
