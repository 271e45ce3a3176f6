# %% Loans of a library: overdue books, fines, readers
import pandas as pd
import numpy as np

books = pd.DataFrame({"isbn": ["111", "222", "333", "444"], "title": ["Dune", "Emma", "Ulysses", "Iliad"], "copies": [2, 1, 1, 3]})
loans = pd.DataFrame({
    "reader": ["ann", "bob", "ann", "cyd", "bob", "dan", "cyd"],
    "isbn": ["111", "222", "333", "111", "444", "111", "222"],
    "out": ["2024-01-02", "2024-01-05", "2024-01-20", "2024-02-01", "2024-02-10", "2024-02-11", "2024-03-01"],
    "back": ["2024-01-16", "2024-02-20", "2024-01-25", None, "2024-03-15", "2024-02-15", None],
})
loans[["out", "back"]] = loans[["out", "back"]].apply(pd.to_datetime)
loans

# %%
today = pd.Timestamp("2024-03-20")
loans["due"] = loans["out"] + pd.Timedelta(days=28)
loans["end"] = loans["back"].fillna(today)
loans["late"] = (loans["end"] - loans["due"]).dt.days.clip(lower=0)
loans[["reader", "late"]]

# %%
loans["fine"] = (loans["late"] * 0.25).where(loans["late"] > 0, 0)
loans.groupby("reader")["fine"].sum()

# %%
open_loans = loans[loans["back"].isnull()]
open_loans.merge(books, on="isbn")[["reader", "title", "due"]]

# %%
available = books.set_index("isbn")["copies"].sub(open_loans["isbn"].value_counts(), fill_value=0).astype(int)
available.sort_index()

# %%
loans["days"] = (loans["end"] - loans["out"]).dt.days
loans.groupby("isbn")["days"].agg(["mean", "max", "count"]).rename(index=books.set_index("isbn")["title"])

# %%
loans.pivot_table(index="reader", columns="isbn", values="days", aggfunc="sum")

# %%
monthly = loans.groupby(loans["out"].dt.to_period("M")).size()
monthly

# %%
loans.sort_values("out").groupby("reader")["out"].diff().dt.days.mean()

# %%
never = books[~books["isbn"].isin(loans["isbn"])]
never.empty

# %%
active = pd.Series(pd.date_range("2024-01-01", "2024-03-01", freq="MS"))
counts = active.apply(lambda d: ((loans["out"] <= d) & (loans["end"] > d)).sum())
counts.tolist()

# %%
loans["status"] = np.select([loans["back"].isna() & (loans["due"] < today), loans["back"].isna()], ["overdue", "out"], default="returned")
loans["status"].value_counts()

# %%
print(loans.loc[loans["status"] == "overdue", ["reader", "isbn"]].to_string())

# %%
readers = loans.groupby("reader", as_index=False).agg(loans=("isbn", "count"), last=("out", "max"))
readers.sort_values(["loans", "reader"], ascending=[False, True])

# %%
summary = loans.describe(include=[np.number])
summary.loc["max"].to_dict()

# %%
loans.replace({"reader": {"ann": "Ann"}})["reader"].unique().tolist()
