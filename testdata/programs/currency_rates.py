# %% Rates
import numpy as np
import pandas as pd
fx = pd.DataFrame({"date": pd.to_datetime(["2024-01-02", "2024-01-03", "2024-01-05"]), "EURUSD": [1.0956, 1.0919, 1.0943], "EURGBP": [0.8667, 0.8636, 0.8608]}).set_index("date")
daily = fx.reindex(pd.date_range("2024-01-02", "2024-01-06")).ffill()
daily
# %%
daily["USDGBP"] = (daily["EURGBP"] / daily["EURUSD"]).round(4)
daily["USDGBP"].tolist()
# %%
inv = pd.DataFrame({"day": pd.to_datetime(["2024-01-04", "2024-01-02", "2024-01-06"]), "cur": ["USD", "GBP", "EUR"], "amt": [100, 200, 300]})
rates = daily[["EURUSD", "EURGBP"]].rename(columns={"EURUSD": "USD", "EURGBP": "GBP"}).assign(EUR=1.0)
long = rates.rename_axis("day").reset_index().melt("day", var_name="cur", value_name="rate")
inv = inv.merge(long, on=["day", "cur"], how="left")
inv["eur"] = (inv["amt"] / inv["rate"]).round(2)
inv[["cur", "eur"]]
# %%
inv["eur"].sum().round(2)
# %%
fx.pct_change().mul(1e4).round(1)
# %%
fx.describe().loc["std"].round(5)
# %%
fx.corr().iloc[0, 1].round(4)
# %%
asof = pd.merge_asof(inv.sort_values("day"), fx.reset_index(), left_on="day", right_on="date")
asof["EURUSD"].tolist()
# %%
fx.loc[:"2024-01-03"].mean().round(4)
# %%
fx.index.to_series().diff().dt.days.dropna().tolist()
