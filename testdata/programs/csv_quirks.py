# %% Files as they come: spaces, comments, odd headers, footers
import io
import os
import pandas as pd

folder = "."
path = os.path.join(folder, "station.txt")
with open(path, "w", encoding="latin-1") as f:
    f.write("# Wetterstation Zürich\n# exported 2024-02-01\n  id   name     temp  \n1  Zürich   -1.5\n2  Genève    2.25\n3  Bern      NaN\n")
df = pd.read_csv(path, sep=r"\s+", comment="#", encoding="latin-1")
df

# %%
df.to_csv(os.path.join(folder, "a.csv"))
again = pd.read_csv(os.path.join(folder, "a.csv"))
again.columns.tolist()

# %%
pd.read_csv(os.path.join(folder, "a.csv"), index_col=0)

# %%
text = "a,b,c\n1,2,3\n4,5,6,7\n8,9,10\n"
pd.read_csv(io.StringIO(text), on_bad_lines="skip")

# %%
report = "Report of sales\n\nregion,amount\nN,10\nS,20\nTotal,30\n"
pd.read_csv(io.StringIO(report), skiprows=2, skipfooter=1, engine="python")

# %%
pd.read_csv(io.StringIO("1,x\n2,y\n"), header=None)

# %%
pd.read_csv(io.StringIO("1,x\n2,y\n"), names=["num", "letter"])

# %%
pd.read_csv(io.StringIO("a,b,\n1,2,\n3,4,\n"))

# %%
dup = pd.read_csv(io.StringIO("x,x,y\n1,2,3\n"))
dup.columns.tolist()

# %%
chunks = pd.read_csv(io.StringIO("k,v\n" + "\n".join(f"{i % 3},{i}" for i in range(100))), chunksize=30)
total = 0
for chunk in chunks:
    total += chunk["v"].sum()
total

# %%
parts = []
for chunk in pd.read_csv(io.StringIO("k,v\n" + "\n".join(f"{i % 3},{i}" for i in range(100))), chunksize=40):
    parts.append(chunk.groupby("k")["v"].sum())
pd.concat(parts).groupby(level=0).sum()

# %%
money = pd.read_csv(io.StringIO("item|price|when\nlamp|1,234.50|2024-01-31\npen|2.00|2024-02-01\n"), sep="|", thousands=",", parse_dates=["when"])
money.dtypes.astype(str).tolist()[1:]

# %%
flags = pd.read_csv(io.StringIO("id,active,score\n1,yes,-\n2,no,7\n3,yes,?\n"), na_values=["-", "?"], true_values=["yes"], false_values=["no"])
flags

# %%
codes = pd.read_csv(io.StringIO("zip,n\n01234,5\n98765,6\n"), dtype={"zip": str})
codes["zip"].tolist()

# %%
pd.read_csv(io.StringIO("a,b,c,d\n1,2,3,4\n5,6,7,8\n"), usecols=lambda c: c in ("b", "d"))

# %%
pd.read_csv(io.StringIO("a,b,c,d\n1,2,3,4\n5,6,7,8\n"), usecols=[0, 2], nrows=1)

# %%
conv = pd.read_csv(io.StringIO("pct,name\n12%, ann\n7%,bob \n"), converters={"pct": lambda s: float(s.strip("%")) / 100, "name": str.strip})
conv

# %%
try:
    pd.read_csv(os.path.join(folder, "missing.csv"))
except FileNotFoundError as e:
    print("not found")

# %%
tsv = pd.DataFrame({"a": [1.5, None], "b": ["x\ty", "z"]}).to_csv(sep="\t", index=False, na_rep="NULL")
tsv

# %%
pd.read_csv(io.StringIO("date,time,v\n2024-01-01,10:30,1\n2024-01-02,11:45,2\n")).assign(ts=lambda d: pd.to_datetime(d["date"] + " " + d["time"]))
