# %% Bank statement: European numbers, categories, balances
import io
import pandas as pd

text = """Datum;Empfänger;Verwendungszweck;Betrag
02.01.2024;Vermieter GmbH;Miete Januar;-950,00
03.01.2024;REWE Markt;Einkauf;-45,27
05.01.2024;Arbeitgeber AG;Gehalt;2.845,10
09.01.2024;Stadtwerke;Abschlag Strom;-78,00
15.01.2024;REWE Markt;Einkauf;-61,90
01.02.2024;Vermieter GmbH;Miete Februar;-950,00
05.02.2024;Arbeitgeber AG;Gehalt;2.845,10
14.02.2024;Cafe Central;Fruehstueck;-12,40
20.02.2024;REWE Markt;Einkauf;-102,33
"""
df = pd.read_csv(io.StringIO(text), sep=";", decimal=",", thousands=".", dtype={"Datum": str})
df

# %%
df.columns = ["date", "payee", "purpose", "amount"]
df["date"] = pd.to_datetime(df["date"], format="%d.%m.%Y")
df["amount"].sum()

# %%
def categorize(row):
    text = (row["payee"] + " " + row["purpose"]).lower()
    if "miete" in text:
        return "rent"
    if "rewe" in text or "cafe" in text:
        return "food"
    if row["amount"] > 0:
        return "income"
    return "other"

df["category"] = df.apply(categorize, axis=1)
df["category"].value_counts()

# %%
df["balance"] = df["amount"].cumsum() + 500
df[["date", "balance"]].tail(3)

# %%
df["month"] = df["date"].dt.strftime("%Y-%m")
df.pivot_table(index="category", columns="month", values="amount", aggfunc="sum", margins=True, margins_name="Total")

# %%
df.groupby("month")["amount"].agg(income=lambda s: s[s > 0].sum(), expenses=lambda s: s[s < 0].sum())

# %%
expenses = df[df["amount"] < 0].assign(amount=lambda d: -d["amount"])
expenses.groupby("category")["amount"].sum().sort_values(ascending=False)

# %%
expenses["weekday"] = expenses["date"].dt.weekday
expenses["is_weekend"] = expenses["weekday"].isin([5, 6])
expenses.groupby("is_weekend")["amount"].mean()

# %%
daily = df.set_index("date")["amount"].resample("D").sum()
daily.loc["2024-01-01":"2024-01-06"]

# %%
daily.rolling(7).sum().max()

# %%
df["payee"].str.upper().str.split().str[0].unique()

# %%
df.sort_values("amount").head(3)[["payee", "amount"]].values.tolist()

# %%
monthly = df.resample("MS", on="date")["amount"].sum()
monthly

# %%
df["amount"].apply(lambda x: f"{x:,.2f} EUR").tolist()[:3]

# %%
dup = df[df.duplicated(subset=["payee", "amount"], keep=False)]
dup.groupby("payee").size()

# %%
out = df.to_csv(index=False)
pd.read_csv(io.StringIO(out)).shape
