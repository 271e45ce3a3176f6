# %% Measurements of penguins
import io
import pandas as pd
import numpy as np

penguins = pd.read_csv(io.StringIO("""species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex
Adelie,Torgersen,39.1,18.7,181,3750,MALE
Adelie,Torgersen,39.5,17.4,186,3800,FEMALE
Adelie,Torgersen,,,,,
Adelie,Biscoe,37.8,18.3,174,3400,FEMALE
Adelie,Dream,39.2,21.1,196,4150,MALE
Chinstrap,Dream,46.5,17.9,192,3500,FEMALE
Chinstrap,Dream,50.0,19.5,196,3900,MALE
Chinstrap,Dream,51.3,19.2,193,3650,MALE
Gentoo,Biscoe,46.1,13.2,211,4500,FEMALE
Gentoo,Biscoe,50.0,16.3,230,5700,MALE
Gentoo,Biscoe,48.7,14.1,210,4450,FEMALE
Gentoo,Biscoe,47.3,15.3,222,5250,
"""))
penguins.sample(3, random_state=0).shape

# %%
penguins.isna().any(axis=1).sum()

# %%
penguins[penguins["sex"].isna()].index.tolist()

# %%
penguins = penguins.dropna(subset=["body_mass_g"]).reset_index(drop=True)
penguins["sex"] = penguins["sex"].str.lower().fillna("unknown")
penguins.groupby(["species", "sex"]).size()

# %%
num = penguins.select_dtypes(np.number)
num.agg(["mean", "std"]).round(2)

# %%
penguins.groupby("species")[num.columns.tolist()].mean().round(1)

# %%
penguins.groupby("species").agg(
    n=("island", "size"),
    islands=("island", lambda s: ", ".join(sorted(s.unique()))),
    heaviest=("body_mass_g", "max"),
)

# %%
z = num.apply(lambda s: (s - s.mean()) / s.std())
z.round(3).tail(2)

# %%
cov = num.cov()
eigenvalues = np.linalg.eigvalsh(num.corr())
eigenvalues.round(4)

# %%
penguins["mass_rank"] = penguins.groupby("species")["body_mass_g"].rank(pct=True)
penguins[["species", "mass_rank"]].head(5)

# %%
pd.crosstab(penguins["species"], penguins["island"], margins=True)

# %%
penguins.set_index("species").loc["Gentoo", "flipper_length_mm"].mean()

# %%
long = penguins.melt(id_vars="species", value_vars=["bill_length_mm", "bill_depth_mm"], var_name="measure")
long.groupby(["species", "measure"])["value"].median().unstack()

# %%
penguins["ratio"] = penguins.eval("bill_length_mm / bill_depth_mm")
penguins.loc[penguins["ratio"].idxmax(), ["species", "ratio"]].to_dict()

# %%
penguins["size"] = pd.qcut(penguins["body_mass_g"], [0, 0.33, 0.66, 1], labels=["S", "M", "L"])
penguins["size"].value_counts()

# %%
penguins.pivot_table(index="species", columns="size", values="flipper_length_mm", aggfunc="mean", observed=False)

# %%
penguins["species"].astype("category").cat.codes.unique()

# %%
penguins.drop(columns=["ratio", "mass_rank"]).columns.str.replace("_mm", "").tolist()
