# %% Votes by precinct: shares, winners, swing
import pandas as pd
import numpy as np

votes = pd.DataFrame({
    "district": ["D1", "D1", "D1", "D2", "D2", "D2", "D3", "D3", "D3"],
    "party": ["Red", "Blue", "Green"] * 3,
    "votes_2018": [5200, 4800, 900, 3100, 6400, 1500, 4100, 4000, 2200],
    "votes_2022": [4900, 5100, 1400, 3300, 6000, 1900, 3900, 4300, 2100],
})
votes

# %%
long = votes.melt(["district", "party"], var_name="year", value_name="votes")
long["year"] = long["year"].str.replace("votes_", "").astype(int)
long.groupby("year")["votes"].sum()

# %%
long["share"] = long["votes"] / long.groupby(["district", "year"])["votes"].transform("sum")
long.pivot_table(index=["district", "party"], columns="year", values="share").round(4)

# %%
winners = long.loc[long.groupby(["year", "district"])["votes"].idxmax(), ["year", "district", "party"]]
winners.pivot(index="district", columns="year", values="party")

# %%
seats = winners.groupby(["year", "party"]).size().unstack(fill_value=0)
seats

# %%
swing = long.pivot_table(index="party", columns="year", values="votes", aggfunc="sum")
swing = swing / swing.sum()
swing["swing"] = (swing[2022] - swing[2018]) * 100
swing["swing"].round(2)

# %%
margin = long.sort_values("votes", ascending=False).groupby(["year", "district"])["votes"].apply(lambda v: v.iloc[0] - v.iloc[1])
margin.unstack("year")

# %%
def dhondt(series, n):
    seats = pd.Series(0, index=series.index)
    for _ in range(n):
        seats[(series / (seats + 1)).idxmax()] += 1
    return seats

dhondt(long[long["year"] == 2022].groupby("party")["votes"].sum(), 10)

# %%
totals = votes.groupby("district")[["votes_2018", "votes_2022"]].sum()
totals.pct_change(axis=1).iloc[:, 1].round(4)

# %%
turnout = pd.DataFrame({"registered": [16000, 17500, 15000]}, index=["D1", "D2", "D3"])
turnout["rate"] = totals["votes_2022"] / turnout["registered"]
turnout.round(4)

# %%
turnout.style if False else turnout["rate"].idxmax()

# %%
enp = long.groupby(["year", "district"])["share"].apply(lambda s: 1 / (s ** 2).sum())
enp.round(3)

# %%
multi = long.set_index(["year", "district", "party"])["votes"].unstack("party")
multi["total"] = multi.sum(axis=1)
multi.loc[2022]

# %%
multi.groupby(level="year").sum()

# %%
multi.swaplevel().sort_index().loc["D2", "Blue"].tolist()

# %%
votes.set_index(["district", "party"]).stack().loc["D3"]
