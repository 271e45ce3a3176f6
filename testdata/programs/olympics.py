# %% Medals: counts by country and year, first medals
import io
import pandas as pd

medals = pd.read_csv(io.StringIO("""Year,Country,Sport,Event,Medal,Athlete
2012,USA,Swimming,100m,Gold,Adams
2012,CHN,Diving,10m,Gold,Chen
2012,USA,Athletics,200m,Silver,Brown
2012,GER,Rowing,Eights,Gold,Muller
2012,GER,Rowing,Eights,Gold,Schmidt
2016,USA,Swimming,100m,Silver,Adams
2016,CHN,Diving,10m,Gold,Chen
2016,BRA,Football,Men,Gold,Silva
2016,GER,Rowing,Eights,Silver,Muller
2016,USA,Swimming,200m,Gold,Clark
2020,USA,Swimming,100m,Gold,Clark
2020,CHN,Diving,3m,Bronze,Wu
2020,BRA,Surfing,Men,Gold,Costa
2020,GER,Rowing,Eights,Silver,Weber
"""))
medals.head(3)

# %%
medals["Medal"] = pd.Categorical(medals["Medal"], categories=["Gold", "Silver", "Bronze"], ordered=True)
medals["Medal"].value_counts()

# %%
events = medals.drop_duplicates(["Year", "Country", "Event", "Medal"])
table = events.groupby(["Country", "Medal"], observed=False).size().unstack()
table

# %%
table["Total"] = table.sum(axis=1)
table.sort_values(["Gold", "Silver", "Bronze"], ascending=False)

# %%
events.pivot_table(index="Country", columns="Year", values="Event", aggfunc="count", fill_value=0)

# %%
points = {"Gold": 3, "Silver": 2, "Bronze": 1}
medals["points"] = medals["Medal"].map(points).astype(int)
medals.groupby("Country")["points"].sum().sort_values(ascending=False)

# %%
athletes = medals.groupby("Athlete").agg(n=("Medal", "size"), years=("Year", "nunique"), best=("Medal", "min"))
athletes[athletes["n"] > 1]

# %%
medals.groupby("Year")["Country"].nunique()

# %%
first = medals.sort_values("Year").drop_duplicates("Country")[["Country", "Year"]].set_index("Country")["Year"]
first.sort_index()

# %%
share = medals.groupby("Year")["Country"].value_counts(normalize=True).unstack().round(3)
share

# %%
medals[medals["Country"] == "USA"].groupby("Sport")["Medal"].count()

# %%
usa = medals.query("Country == 'USA' and Medal == 'Gold'")
usa["Athlete"].tolist()

# %%
streak = medals[medals["Medal"] == "Gold"].groupby("Country")["Year"].apply(lambda y: sorted(set(y)))
streak.apply(len)

# %%
cum = events.groupby(["Country", "Year"]).size().groupby(level=0).cumsum()
cum.loc["USA"]

# %%
medals["Event"].str.extract(r"(\d+)m")[0].dropna().astype(int).max()

# %%
pd.merge(first.rename("first"), table[["Total"]], left_index=True, right_index=True).sort_index()
