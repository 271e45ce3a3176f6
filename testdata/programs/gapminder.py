# %% Countries through the years
import io
import numpy as np
import pandas as pd

gap = pd.read_csv(io.StringIO("""country,continent,year,lifeExp,pop,gdpPercap
Norway,Europe,1952,72.67,3327728,10095.42
Norway,Europe,1977,75.37,4043205,23311.35
Norway,Europe,2007,80.196,4627926,49357.19
Kenya,Africa,1952,42.27,6464046,853.54
Kenya,Africa,1977,56.155,14500404,1267.61
Kenya,Africa,2007,54.11,35610177,1463.25
Japan,Asia,1952,63.03,86459025,3216.96
Japan,Asia,1977,75.38,113872473,16610.38
Japan,Asia,2007,82.603,127467972,31656.07
Ghana,Africa,1952,43.149,5581001,911.3
Ghana,Africa,1977,51.756,10538093,993.22
Ghana,Africa,2007,60.022,22873338,1327.61
"""))
gap.describe(include="all")

# %%
gap["year"].unique(), gap["country"].nunique()

# %%
gap2007 = gap[gap["year"] == 2007].copy()
gap2007["gdp"] = gap2007["pop"] * gap2007["gdpPercap"]
gap2007.sort_values("gdp", ascending=False)[["country", "gdp"]]

# %%
gap.groupby(["continent", "year"])["lifeExp"].mean().unstack(level=0)

# %%
def wmean(g):
    return np.average(g["lifeExp"], weights=g["pop"])

gap.groupby(["continent", "year"])[["lifeExp", "pop"]].apply(wmean).round(3)

# %%
change = gap.pivot(index="country", columns="year", values="lifeExp")
change["gain"] = change[2007] - change[1952]
change.sort_values("gain", ascending=False)

# %%
change.columns = change.columns.astype(str)
change["2007"].idxmin()

# %%
gap["decade"] = (gap["year"] // 10) * 10
gap["rank"] = gap.groupby("year")["gdpPercap"].rank(ascending=False).astype(int)
gap.pivot(index="year", columns="country", values="rank")

# %%
gap["log_gdp"] = np.log10(gap["gdpPercap"])
gap[["log_gdp", "lifeExp"]].corr().round(4)

# %%
gap.groupby("country")["pop"].apply(lambda s: (s.iloc[-1] / s.iloc[0]) ** (1 / 55) - 1).round(5)

# %%
gap.set_index(["country", "year"]).loc["Japan"]

# %%
gap.set_index(["country", "year"]).xs(2007, level="year")["pop"].sum()

# %%
stats = gap.groupby("continent").agg({"lifeExp": ["min", "max"], "pop": "sum"})
stats.columns = ["_".join(col).strip() for col in stats.columns.values]
stats.reset_index()

# %%
richest = gap.loc[gap.groupby("year")["gdpPercap"].idxmax()]
richest[["year", "country"]].to_string(index=False)

# %%
gap.query("continent == 'Africa' & year > 1960")["gdpPercap"].median()

# %%
gap.loc[gap["country"].str.startswith("N"), "lifeExp"].round().astype(int).tolist()

# %%
gap.stack if False else gap.iloc[2:5, [0, 3]]

# %%
gap.rename(str.upper, axis=1).columns.tolist()
