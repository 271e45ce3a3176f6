# %% Bills
import pandas as pd
import numpy as np
c = pd.DataFrame({"number": ["+49 170 123", "0049-171-555", "+1 (212) 555", "170/123", None], "type": ["voice", "sms", "voice", "voice", "data"], "dur": ["00:03:25", "0", "01:00:00", "00:00:59", "12.5MB"], "cost": ["0,12", "0,09", "2,50", "0,03", "1,00"]})
c["digits"] = c["number"].str.replace(r"\D", "", regex=True)
c["digits"].tolist()
# %%
c["cost"] = c["cost"].str.replace(",", ".").astype(float)
c.groupby("type")["cost"].sum()
# %%
voice = c[c["type"] == "voice"].copy()
voice["seconds"] = pd.to_timedelta(voice["dur"]).dt.total_seconds()
voice["seconds"].tolist()
# %%
voice["per_min"] = (voice["cost"] / np.ceil(voice["seconds"] / 60)).round(4)
voice["per_min"].tolist()
# %%
c["intl"] = c["number"].str.startswith(("+1", "001"), na=False)
c["intl"].sum()
# %%
c["number"].isna().idxmax()
# %%
c["mb"] = c["dur"].str.extract(r"([\d.]+)MB", expand=False).astype(float).fillna(0)
c["mb"].sum()
# %%
c.loc[c["type"].ne("data"), "digits"].str.len().value_counts().sort_index()
# %%
c["type"].replace({"voice": "call"}).str.upper().unique().tolist()
# %%
c.assign(share=c["cost"] / c["cost"].sum()).sort_values("share", ascending=False)["share"].cumsum().round(3).tolist()
