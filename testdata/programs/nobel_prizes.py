# %% Prizes
import io
import pandas as pd
n = pd.read_csv(io.StringIO("""year,category,name,born,country,sex,share
1901,Physics,Rontgen,1845-03-27,DE,male,1/1
1903,Physics,M Curie,1867-11-07,PL,female,1/4
1903,Physics,P Curie,1859-05-15,FR,male,1/4
1911,Chemistry,M Curie,1867-11-07,PL,female,1/1
1921,Physics,Einstein,1879-03-14,DE,male,1/1
1963,Peace,Red Cross,,,,1/2
2009,Chemistry,Yonath,1939-06-22,IL,female,1/3
2018,Physics,Strickland,1959-05-27,CA,female,1/4
"""), parse_dates=["born"])
n["decade"] = n["year"].floordiv(10).mul(10)
n.groupby("decade").size()
# %%
n["female"] = n["sex"] == "female"
n.groupby("decade")["female"].mean()
# %%
n["age"] = n["year"] - n["born"].dt.year
n["age"].agg(["min", "max", "mean"]).round(2)
# %%
n.loc[n["age"].idxmin(), ["name", "age"]]
# %%
repeat = n.groupby("name").filter(lambda g: len(g) >= 2)
repeat["name"].unique()
# %%
n["share"] = n["share"].str.split("/").apply(lambda p: int(p[0]) / int(p[1]))
n["share"].round(3).tolist()
# %%
n["country"].value_counts(dropna=False).head(2)
# %%
first = n[n["female"]].nsmallest(1, "year")[["name", "category"]]
first.values.tolist()
# %%
n.groupby("category").agg(n=("name", "count"), first=("year", "min"), last=("year", "max")).sort_values("n", ascending=False, kind="stable")
# %%
pd.crosstab(n["category"], n["sex"])
# %%
n.dropna(subset=["born"]).sort_values("born")["name"].tolist()[:2]
