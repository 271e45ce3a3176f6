# %% Visitors
import io
import numpy as np
import pandas as pd
v = pd.read_csv(io.StringIO("Museum,Jan 2022,Feb 2022,Mar 2022\nArt,1200,1350,\nScience,980,1010,1500\nMaps,,40,65\n"), index_col="Museum")
v
# %%
v.T
# %%
long = v.stack().reset_index()
long.columns = ["museum", "month", "visitors"]
long["month"] = pd.to_datetime(long["month"], format="%b %Y")
long
# %%
long.groupby("museum")["visitors"].agg(["sum", "mean", "count"])
# %%
v.fillna(v.mean()).round(0).astype(int)
# %%
v.sum(axis=1).sort_values(ascending=False)
# %%
v.rank(ascending=False)
# %%
(v.div(v.sum()) * 100).round(1)
# %%
v.loc["Art"].pct_change()
# %%
v.columns = pd.to_datetime(v.columns, format="%b %Y").strftime("%Y-%m")
v.columns.tolist()
# %%
v["2022-01"].idxmax(), v.loc["Maps"].first_valid_index()
