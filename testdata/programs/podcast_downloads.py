# %% Downloads per episode, concat of monthly files
import io
import pandas as pd
import numpy as np

files = {
    "2024-01": "episode,downloads,country\ne1,120,US\ne1,30,DE\ne2,90,US\n",
    "2024-02": "episode,downloads,country\ne1,60,US\ne2,150,US\ne2,45,DE\ne3,200,US\n",
    "2024-03": "episode,downloads,country,app\ne2,40,DE,web\ne3,180,US,ios\ne3,75,FR,web\n",
}
frames = []
for month, text in files.items():
    frame = pd.read_csv(io.StringIO(text))
    frame["month"] = month
    frames.append(frame)
df = pd.concat(frames, ignore_index=True)
df

# %%
df["app"].isna().sum(), df["app"].fillna("n/a").unique().tolist()

# %%
by_file = pd.concat({m: pd.read_csv(io.StringIO(t)) for m, t in files.items()}, names=["month", "row"])
by_file.loc["2024-03"]

# %%
by_file.groupby(level="month")["downloads"].sum()

# %%
pt = df.pivot_table(index="episode", columns="month", values="downloads", aggfunc="sum")
pt

# %%
pt.fillna(0).astype(int).assign(total=lambda d: d.sum(axis=1))

# %%
pt.diff(axis=1)

# %%
first = df.groupby("episode")["month"].min().rename("released")
df = df.join(first, on="episode")
df["age"] = (pd.to_datetime(df["month"]).dt.to_period("M").astype("int64") - pd.to_datetime(df["released"]).dt.to_period("M").astype("int64"))
df["age"].tolist()

# %%
df.groupby(["age"])["downloads"].mean()

# %%
share = df.groupby("country")["downloads"].sum() / df["downloads"].sum()
share.map("{:.1%}".format)

# %%
df.groupby(["episode", "country"], sort=False)["downloads"].sum().reset_index()

# %%
wide = df.set_index(["episode", "month", "country"])["downloads"].unstack(["month", "country"])
wide.shape

# %%
df["rank_in_month"] = df.groupby("month")["downloads"].rank(method="first", ascending=False).astype(int)
df.loc[df["rank_in_month"] == 1, ["month", "episode"]].reset_index(drop=True)

# %%
pd.concat([df.head(1), df.tail(1)])["downloads"].sum()

# %%
extra = pd.DataFrame([{"episode": "e4", "downloads": 10, "country": "US", "month": "2024-04"}])
df = pd.concat([df, extra])
len(df), df["age"].isna().sum()

# %%
df.agg({"downloads": ["sum", "mean"], "episode": "nunique"})

# %%
np.unique(df["country"]).tolist(), df["country"].mode().iloc[0]
