# %% Nested dictionaries
import pandas as pd
import json
data = {"books": [{"t": "A", "authors": [{"n": "x"}, {"n": "y"}], "price": {"eur": 10}}, {"t": "B", "authors": [{"n": "x"}], "price": {"eur": 7.5, "usd": 8}}]}
flat = pd.json_normalize(data["books"], record_path="authors", meta=["t", ["price", "eur"]])
flat
# %%
flat.groupby("n")["t"].count()
# %%
prices = pd.json_normalize(data["books"], sep="_")[["t", "price_eur", "price_usd"]]
prices
# %%
pd.DataFrame(data["books"])["t"].tolist()
# %%
s = pd.Series({"a": 1, "b": 2, "c": 3})
s[s > 1].to_dict()
# %%
pd.DataFrame({"k": ["x", "y"], "v": [1, 2]}).set_index("k")["v"].to_dict()
# %%
pd.DataFrame([{"a": 1, "b": 2}, {"a": 3}]).fillna(0).astype(int)
# %%
pd.DataFrame.from_dict({"r1": {"a": 1, "b": 2}, "r2": {"a": 3, "b": 4}}, orient="index")
# %%
df = pd.DataFrame({"id": [1, 2], "info": ['{"w": 3}', '{"w": 5}']})
df["w"] = df["info"].apply(lambda t: json.loads(t)["w"])
df["w"].sum()
# %%
json.loads(df[["id", "w"]].to_json(orient="records"))
# %%
dict(zip(df["id"], df["w"])), df.to_dict("split")["data"][0][0]
