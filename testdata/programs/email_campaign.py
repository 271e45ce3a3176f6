# %% Emails: domains, opens, dates, duplicates
import pandas as pd
import numpy as np

users = pd.DataFrame({
    "email": ["Ann@Example.com ", "bob@mail.org", "ann@example.com", "cyd@test.co.uk", None, "dan@mail.org", "not-an-email"],
    "joined": ["2023-01-15", "2023-02-01", "2023-01-15", "2023-03-20", "2023-04-01", "2023-05-05", "2023-06-06"],
    "opens": [5, 0, 3, 10, 2, np.nan, 1],
    "country": ["us", "US", "us", "GB", "gb", "De", None],
})
users["email"] = users["email"].str.strip().str.lower()
users["country"] = users["country"].str.upper().fillna("??")
users

# %%
valid = users["email"].str.match(r"^[\w.]+@[\w.]+\.\w+$", na=False)
users = users[valid].copy()
len(users)

# %%
users["domain"] = users["email"].str.split("@").str[1]
users["tld"] = users["domain"].str.rsplit(".", n=1).str[-1]
users[["domain", "tld"]]

# %%
users = users.groupby("email", as_index=False).agg({"joined": "min", "opens": "sum", "country": "first", "domain": "first"})
users

# %%
users["joined"] = pd.to_datetime(users["joined"])
users["tenure"] = (pd.to_datetime("2023-12-31") - users["joined"]).dt.days
users["tenure"].describe()[["min", "max"]]

# %%
users["segment"] = np.where(users["opens"] >= 8, "hot", np.where(users["opens"] > 0, "warm", "cold"))
users["segment"].value_counts().to_frame("n")

# %%
events = pd.DataFrame({
    "email": np.repeat(users["email"].to_numpy(), 3),
    "kind": ["sent", "open", "click"] * len(users),
    "n": [3, 2, 1, 4, 0, 0, 2, 2, 2, 5, 1, 0],
})
funnel = events.pivot(index="email", columns="kind", values="n")[["sent", "open", "click"]]
funnel

# %%
funnel.assign(open_rate=lambda d: d["open"] / d["sent"], ctr=lambda d: (d["click"] / d["open"]).fillna(0)).round(2)

# %%
funnel.sum().pct_change().round(3)

# %%
full = users.join(funnel, on="email")
full.groupby("domain")[["sent", "open"]].sum()

# %%
full["email"].str.replace(r"(?<=.).(?=.*@)", "*", regex=True).tolist() if False else full["email"].str[0].tolist()

# %%
full["month"] = full["joined"].dt.month_name()
full.sort_values("joined")["month"].tolist()

# %%
full.loc[full["country"].isin(["US", "GB"]), "region"] = "english"
full["region"] = full["region"].fillna("other")
full["region"].value_counts()

# %%
full[["opens", "sent"]].corr().iloc[0, 1]

# %%
full.select_dtypes(include=["datetime"]).columns.tolist(), full.select_dtypes(exclude=["number"]).shape[1]

# %%
full.eval("score = opens * 2 + click", inplace=True)
full.nlargest(1, "score")["email"].iloc[0]
