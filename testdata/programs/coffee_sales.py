# %% Coffee machine
import pandas as pd
import numpy as np
rng = np.random.default_rng(23)
n = 160
c = pd.DataFrame({"ts": pd.Timestamp("2024-03-01 07:00") + pd.to_timedelta(np.sort(rng.integers(0, 14 * 24 * 60, n)), unit="min"), "kind": rng.choice(["Latte", "Espresso", "Tea"], n, p=[0.5, 0.3, 0.2]), "card": rng.choice(["c1", "c2", "c3", None], n), "money": rng.choice([28.9, 33.8, 38.7], n)})
c.isna().sum()
# %%
c["date"] = c["ts"].dt.date
c["hour"] = c["ts"].dt.hour
daily = c.groupby("date")["money"].sum()
daily.shape, round(daily.max(), 2)
# %%
c.groupby("kind").agg(n=("money", "count"), revenue=("money", "sum")).sort_values("revenue", ascending=False)
# %%
c.pivot_table(index="hour", columns="kind", values="money", aggfunc="count", fill_value=0).sum()
# %%
c["weekday"] = c["ts"].dt.day_name()
c["weekday"].value_counts().reindex(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
# %%
c["customer"] = c["card"].fillna("cash")
visits = c.groupby("customer")["date"].nunique()
visits
# %%
c["since_last"] = c.groupby("card")["ts"].diff()
c["since_last"].dt.total_seconds().div(3600).describe().round(2)[["count", "min"]]
# %%
weekly = c.resample("W", on="ts")["money"].sum().round(2)
weekly
# %%
c["cum"] = c.groupby("date")["money"].cumsum().round(2)
c.groupby("date")["cum"].last().equals(daily.round(2).rename("cum"))
# %%
favorite = c.dropna(subset=["card"]).groupby("card")["kind"].agg(lambda s: s.value_counts().idxmax())
favorite
# %%
c.set_index("ts").between_time("08:00", "10:00")["kind"].value_counts().sum()
