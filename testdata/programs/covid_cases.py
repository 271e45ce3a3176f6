# %% Cumulative case numbers by country in wide form
import io
import pandas as pd

wide = pd.read_csv(io.StringIO("""Province/State,Country/Region,Lat,Long,1/22/20,1/23/20,1/24/20,1/25/20,1/26/20,1/27/20,1/28/20,1/29/20
,Freedonia,33.9,67.7,0,1,3,6,6,12,15,31
North,Sylvania,41.1,20.1,0,0,2,2,5,9,14,20
South,Sylvania,40.0,20.5,1,1,1,4,4,4,8,8
,Grand Fenwick,28.0,1.6,0,0,0,0,1,1,1,2
"""))
wide.head()

# %%
wide = wide.drop(columns=["Lat", "Long"]).rename(columns={"Province/State": "province", "Country/Region": "country"})
long = wide.melt(id_vars=["province", "country"], var_name="date", value_name="cases")
long["date"] = pd.to_datetime(long["date"], format="%m/%d/%y")
long.dtypes

# %%
country = long.groupby(["country", "date"])["cases"].sum().reset_index()
country.head(9)

# %%
country["new"] = country.groupby("country")["cases"].diff().fillna(0).astype(int)
country[country["country"] == "Sylvania"]

# %%
country["avg3"] = country.groupby("country")["new"].transform(lambda s: s.rolling(3, min_periods=1).mean())
country.tail(8)

# %%
table = country.pivot(index="date", columns="country", values="new")
table

# %%
table.cumsum().iloc[-1]

# %%
table.idxmax()

# %%
growth = country.pivot(index="date", columns="country", values="cases").pct_change().replace([float("inf")], float("nan"))
growth.mean().round(3)

# %%
latest = country[country["date"] == country["date"].max()].set_index("country")["cases"]
latest.sort_values(ascending=False)

# %%
pop = pd.Series({"Freedonia": 2.1e6, "Sylvania": 5.4e6, "Grand Fenwick": 9.0e4})
per_100k = (latest / pop * 1e5).round(3)
per_100k.sort_index()

# %%
first = country[country["cases"] > 0].groupby("country")["date"].min()
first

# %%
country["days"] = (country["date"] - country["country"].map(first)).dt.days
country[country["days"] >= 0].pivot(index="days", columns="country", values="cases")

# %%
weekly = table.resample("W").sum()
weekly

# %%
table.stack().loc["2020-01-28"]

# %%
table["total"] = table.sum(axis=1)
table.loc["sum"] = table.sum()
table.tail(2)
