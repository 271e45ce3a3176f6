# %% Tracks: durations, decades, artists with several names
import numpy as np
import pandas as pd

tracks = pd.DataFrame({
    "name": ["Alpha", "Beta (Remastered 2011)", "Gamma - Live", "Delta", "Epsilon (feat. Zed)", "alpha"],
    "artists": ["['A']", "['B', 'C']", "['A']", "['D']", "['E', 'Zed']", "['F']"],
    "duration_ms": [201000, 185500, 322100, 95000, 240250, 180000],
    "release_date": ["1969-09-26", "1973", "1981-05", "2005-01-01", "2020-02-02", "1999-12-31"],
    "popularity": [80, 55, 30, 0, 91, 12],
    "explicit": [0, 0, 0, 1, 1, 0],
    "tempo": [120.1, 98.5, np.nan, 140.0, 128.0, 90.2],
})
tracks.sample(2, random_state=0)["name"].tolist()

# %%
tracks["minutes"] = tracks["duration_ms"] / 60000
tracks["length"] = tracks["duration_ms"].floordiv(60000).astype(str) + ":" + (tracks["duration_ms"] // 1000 % 60).astype(str).str.zfill(2)
tracks[["name", "length"]]

# %%
tracks["year"] = tracks["release_date"].str[:4].astype(int)
tracks["decade"] = (tracks["year"] // 10 * 10).astype(str) + "s"
tracks["decade"].value_counts().sort_index()

# %%
tracks["artists"] = tracks["artists"].str.strip("[]").str.replace("'", "")
tracks["n_artists"] = tracks["artists"].str.count(",") + 1
tracks["lead"] = tracks["artists"].str.split(", ").str[0]
tracks[["lead", "n_artists"]]

# %%
tracks["clean"] = tracks["name"].str.replace(r"\s*[\(-].*$", "", regex=True).str.casefold()
tracks.duplicated("clean", keep=False).tolist()

# %%
tracks["clean"].str.capitalize().tolist()

# %%
tracks["tempo"] = tracks["tempo"].fillna(tracks["tempo"].mean()).round(1)
tracks["tempo_class"] = pd.cut(tracks["tempo"], [0, 100, 130, 300], labels=["slow", "medium", "fast"])
tracks.groupby("tempo_class", observed=True)["popularity"].max()

# %%
tracks.groupby("explicit").agg({"popularity": ["mean", "max"], "minutes": "mean"}).round(2)

# %%
tracks["explicit"] = tracks["explicit"].astype(bool)
tracks[~tracks["explicit"] & (tracks["popularity"] > 20)]["name"].tolist()

# %%
norm = (tracks["popularity"] - tracks["popularity"].min()) / (tracks["popularity"].max() - tracks["popularity"].min())
norm.round(3)

# %%
tracks.explode("artists") .shape, tracks["artists"].str.split(", ").explode().nunique()

# %%
features = tracks["name"].str.extract(r"\(feat\. (?P<feat>.+)\)")
features.dropna()

# %%
tracks.set_index("name")["popularity"].nlargest(2).index.tolist()

# %%
bins = tracks["popularity"].value_counts(bins=[-1, 25, 50, 75, 100], sort=False)
bins

# %%
tracks.agg({"minutes": ["min", "max"], "popularity": ["mean"]}).round(2)
