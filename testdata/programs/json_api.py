# %% Records as an API gives them: nested JSON
import io
import json
import pandas as pd

payload = [
    {"id": 1, "user": {"name": "ann", "address": {"city": "Oslo"}}, "tags": ["a", "b"], "created": "2024-01-05T10:00:00Z", "amount": "12.50"},
    {"id": 2, "user": {"name": "bob", "address": {"city": "Rome"}}, "tags": [], "created": "2024-02-11T16:30:00Z", "amount": "7"},
    {"id": 3, "user": {"name": "cyd"}, "tags": ["b"], "created": "2024-02-15T08:45:30Z", "amount": None},
]
df = pd.json_normalize(payload)
df.columns.tolist()

# %%
df = df.rename(columns={"user.name": "name", "user.address.city": "city"})
df[["id", "name", "city"]]

# %%
df["created"] = pd.to_datetime(df["created"])
df["created"].dt.tz_localize(None).dt.date.astype(str).tolist()

# %%
df["amount"] = pd.to_numeric(df["amount"], errors="coerce").fillna(0)
df["amount"].sum()

# %%
df["n_tags"] = df["tags"].apply(len)
df[["id", "n_tags"]]

# %%
tags = df.explode("tags")[["id", "tags"]].dropna()
tags

# %%
tags["tags"].value_counts().to_dict()

# %%
items = pd.json_normalize(
    [{"order": 7, "lines": [{"sku": "x", "qty": 1}, {"sku": "y", "qty": 3}]}, {"order": 8, "lines": [{"sku": "x", "qty": 2}]}],
    record_path="lines", meta="order",
)
items

# %%
items.groupby("sku")["qty"].sum()

# %%
text = df[["id", "name", "amount"]].to_json(orient="records")
json.loads(text)

# %%
back = pd.read_json(io.StringIO(text))
back.equals(back.copy()), back.shape

# %%
df[["id", "name"]].to_dict(orient="index")

# %%
lines = "\n".join(json.dumps({"k": i % 2, "v": i * 1.5}) for i in range(6))
events = pd.read_json(io.StringIO(lines), lines=True)
events.groupby("k")["v"].mean()

# %%
pd.DataFrame.from_dict({"r1": [1, 2], "r2": [3, 4]}, orient="index", columns=["a", "b"])

# %%
pd.DataFrame(list(map(lambda p: p["user"], payload))).drop(columns="address")

# %%
events.to_json(orient="split") is not None, len(events.to_json())  > 10

# %%
df["city"] = df["city"].where(df["city"].notna(), "unknown")
df.set_index("name")["city"].to_json()
