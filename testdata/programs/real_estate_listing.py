# %% Scraped listings: messy text to numbers
import numpy as np
import pandas as pd

raw = pd.DataFrame({
    " Price ": ["$1,250,000", "€ 830.000", "$499,900 ", "POA", None, "$1.1M"],
    "Beds/Baths": ["3 bd | 2 ba", "2 bd | 1 ba", "4 bd | 2.5 ba", "", "1 bd | 1 ba", "5 bd | 4 ba"],
    "Address": ["12 Oak St, Springfield, IL 62704", "7 Elm Ave, Portland, OR 97201", "9 Pine Rd, Austin, TX 73301", "1 Main St, Boston, MA 02108", "unknown", "55 Lake Dr, Austin, TX 73344"],
    "Listed": ["01/15/2024", "2024-02-03", "03/01/2024", "not listed", "02/20/2024", "2024-01-30"],
    "SqFt": ["1,800", "950", "2,400", "n/a", "600", "4,100"],
})
df = raw.rename(columns=lambda c: c.strip().lower().replace("/", "_"))
df.columns.tolist()

# %%
df["price_num"] = pd.to_numeric(df["price"].str.replace(r"[^0-9.]", "", regex=True), errors="coerce")
df["price_num"]

# %%
millions = df["price"].str.contains("M", na=False)
df.loc[millions, "price_num"] *= 1_000_000
df["price_num"].max()

# %%
df[["beds", "baths"]] = df["beds_baths"].str.extract(r"(\d+) bd \| ([\d.]+) ba").astype(float)
df[["beds", "baths"]]

# %%
df["state"] = df["address"].str.extract(r", ([A-Z]{2}) \d{5}$")
df["zip"] = df["address"].str[-5:].where(df["state"].notna())
df["city"] = df["address"].str.split(", ").str[1]
df[["city", "state", "zip"]]

# %%
us = pd.to_datetime(df["listed"], format="%m/%d/%Y", errors="coerce")
iso = pd.to_datetime(df["listed"], format="%Y-%m-%d", errors="coerce")
df["listed"] = us.fillna(iso)
df["listed"]

# %%
df["sqft"] = df["sqft"].replace("n/a", np.nan).str.replace(",", "").astype(float)
df["sqft"].describe().round(1)

# %%
df["ppsf"] = (df["price_num"] / df["sqft"]).round(2)
df.groupby("state", dropna=False)["ppsf"].mean()

# %%
df["size"] = pd.cut(df["sqft"], [0, 1000, 2000, np.inf], labels=["small", "medium", "large"])
df["size"].value_counts(dropna=False)

# %%
df["days"] = (pd.Timestamp("2024-03-31") - df["listed"]).dt.days
df["days"].fillna(-1).astype(int).tolist()

# %%
df.dropna(subset=["price_num", "sqft"]).shape

# %%
df.dropna(thresh=8).index.tolist()

# %%
df["address"].str.contains(r"\b(?:St|Ave)\b").sum()

# %%
df["street_no"] = df["address"].str.extract(r"^(\d+)").fillna(0).astype(int)
df["street_no"].sum()

# %%
df.isnull().mean().round(2).to_dict()["sqft"]

# %%
df["label"] = df["city"].fillna("?") + " (" + df["beds"].fillna(0).astype(int).astype(str) + ")"
df["label"].tolist()

# %%
df["city"].str.upper().replace({"AUSTIN": "ATX"}).value_counts(dropna=False).sort_index()
