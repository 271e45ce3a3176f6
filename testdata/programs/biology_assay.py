# %% Plates
import numpy as np
import pandas as pd
rng = np.random.default_rng(81)
wells = pd.DataFrame({"well": [f"{r}{c:02d}" for r in "ABCD" for c in range(1, 7)], "od": rng.normal(0.5, 0.1, 24).round(3)})
wells["row"], wells["col"] = wells["well"].str[0], wells["well"].str[1:].astype(int)
plate = wells.pivot(index="row", columns="col", values="od")
plate.shape
# %%
layout = {1: "blank", 2: "control", 3: "control", 4: "drug", 5: "drug", 6: "drug"}
wells["group"] = wells["col"].map(layout)
wells.groupby("group")["od"].agg(["mean", "sem", "count"]).round(4)
# %%
blank = wells.loc[wells["group"] == "blank", "od"].mean()
wells["net"] = wells["od"] - blank
wells["pct"] = wells["net"] / wells.loc[wells["group"] == "control", "net"].mean() * 100
wells.groupby("group")["pct"].mean().round(2)
# %%
cv = wells.groupby("group")["od"].std() / wells.groupby("group")["od"].mean()
cv.round(4)
# %%
wells["z"] = wells.groupby("group")["od"].transform(lambda s: (s - s.mean()) / s.std())
wells[wells["z"].abs() > 1.5]["well"].tolist()
# %%
round(plate.sub(plate.mean(axis=1), axis=0).abs().max().max(), 4)
# %%
plate.loc["B", 2:4].tolist()
# %%
plate.stack().rename("od").reset_index().query("row == 'A' and col > 4")["od"].tolist()
# %%
dose = pd.Series([0.1, 1, 10, 100], index=list("ABCD"), name="dose")
wells = wells.join(dose, on="row")
wells[wells["group"] == "drug"].groupby("dose")["pct"].agg(["mean", "std"]).round(2)
# %%
np.log10(wells["dose"]).unique().tolist()
