# %% Articles
import pandas as pd
a = pd.DataFrame({"title": ["Fed raises rates", "New phone: review", "Rates and markets", "Phone sales fall"], "tags": [["econ"], ["tech", "review"], ["econ", "markets"], ["tech"]], "pub": ["Mon, 05 Feb 2024 10:00:00", "Tue, 06 Feb 2024 08:30:00", "Tue, 06 Feb 2024 18:45:00", "Fri, 09 Feb 2024 12:00:00"]})
a["pub"] = pd.to_datetime(a["pub"], format="%a, %d %b %Y %H:%M:%S")
a["pub"].dt.day_name().tolist()
# %%
tags = a.explode("tags")
tags["tags"].value_counts()
# %%
tags.groupby("tags")["title"].first()
# %%
a["n_tags"] = a["tags"].str.len()
a["n_tags"].sum()
# %%
a["slug"] = a["title"].str.lower().str.replace(r"[^a-z0-9]+", "-", regex=True).str.strip("-")
a["slug"].tolist()
# %%
words = a["title"].str.lower().str.split().explode()
words[words.isin(["rates", "phone"])].count()
# %%
a["has_review"] = a["tags"].apply(lambda t: "review" in t)
a.loc[a["has_review"], "title"].tolist()
# %%
a.set_index("pub").resample("D")["title"].count().tolist()
# %%
dummies = pd.get_dummies(tags["tags"]).groupby(level=0).max()
dummies.sum().to_dict()
# %%
a.sort_values("pub", ascending=False).iloc[0]["title"]
