# %% Cars: names to makers, unit conversions, horsepower with "?"
import io
import numpy as np
import pandas as pd

names = ["mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "year", "origin", "name"]
auto = pd.read_csv(io.StringIO("""18.0   8   307.0      130.0      3504.      12.0   70  1	"chevrolet chevelle malibu"
15.0   8   350.0      165.0      3693.      11.5   70  1	"buick skylark 320"
25.0   4   98.00      ?          2046.      19.0   71  1	"ford pinto"
24.0   4   113.0      95.00      2372.      15.0   70  3	"toyota corona mark ii"
26.0   4   97.00      46.00      1835.      20.5   70  2	"volkswagen 1131 deluxe sedan"
27.0   4   97.00      88.00      2130.      14.5   70  3	"datsun pl510"
21.0   6   200.0      ?          2875.      17.0   74  1	"ford maverick"
31.0   4   79.00      67.00      1950.      19.0   74  3	"datsun b210"
"""), sep=r"\s+", names=names, na_values="?")
auto.head()

# %%
auto.dtypes.value_counts().sort_index().index.astype(str).tolist() if False else auto["horsepower"].dtype.kind

# %%
auto["horsepower"] = auto["horsepower"].fillna(auto.groupby("cylinders")["horsepower"].transform("mean"))
auto["horsepower"].isna().sum()

# %%
auto["horsepower"] = auto["horsepower"].fillna(auto["horsepower"].median())
auto["origin"] = auto["origin"].map({1: "usa", 2: "europe", 3: "japan"})
auto["maker"] = auto["name"].str.split().str[0]
auto["maker"].value_counts()

# %%
auto["l_100km"] = (235.215 / auto["mpg"]).round(2)
auto["kg"] = auto["weight"] * 0.4536
auto.groupby("origin")[["l_100km", "kg"]].mean().round(2)

# %%
auto["year"] += 1900
auto.pivot_table(index="year", columns="origin", values="mpg")

# %%
auto.groupby(["origin", "cylinders"])["mpg"].agg(["mean", "count"])

# %%
corr = auto.corr(numeric_only=True).round(3)
corr.loc["mpg"].sort_values().index[0]

# %%
auto.sort_values(["cylinders", "mpg"], ascending=[True, False])[["name", "mpg"]].head(3)

# %%
auto["power_ratio"] = auto.horsepower / auto.weight
auto.loc[auto.power_ratio.idxmax(), "name"]

# %%
b, a = np.polyfit(auto["weight"], auto["mpg"], 1)
auto["fit"] = a + b * auto["weight"]
auto["resid"] = auto["mpg"] - auto["fit"]
round(auto["resid"].abs().max(), 4)

# %%
auto.groupby("maker").filter(lambda g: len(g) > 1)["name"].tolist()

# %%
auto.set_index("name").loc["ford pinto":"datsun pl510", ["mpg", "weight"]]

# %%
auto["class"] = np.where(auto["cylinders"].isin([4, 5]), "small", "big")
auto.groupby("class")["mpg"].apply(lambda s: s.quantile(0.75) - s.quantile(0.25))

# %%
auto.describe(percentiles=[0.1, 0.9]).loc[["10%", "90%"], ["mpg", "weight"]]

# %%
auto.columns.get_loc("origin"), auto.columns[auto.columns.str.startswith("w")].tolist()
