# %% Stats
import io
import pandas as pd
import numpy as np
p = pd.read_csv(io.StringIO("""#,Name,Type 1,Type 2,HP,Attack,Defense,Speed,Generation,Legendary
1,Bulbasaur,Grass,Poison,45,49,49,45,1,False
4,Charmander,Fire,,39,52,43,65,1,False
6,Charizard,Fire,Flying,78,84,78,100,1,False
6,CharizardMega Charizard X,Fire,Dragon,78,130,111,100,1,False
150,Mewtwo,Psychic,,106,110,90,130,1,True
152,Chikorita,Grass,,45,49,65,45,2,False
249,Lugia,Psychic,Flying,106,90,130,110,2,True
255,Torchic,Fire,,45,60,40,45,3,False
"""))
p.columns = p.columns.str.lower().str.replace(" ", "_").str.replace("#", "number")
p.columns.tolist()
# %%
p.set_index("name", inplace=True)
p.loc["Charizard", ["hp", "attack"]]
# %%
stats = ["hp", "attack", "defense", "speed"]
p["total"] = p[stats].sum(axis=1)
p["total"].nlargest(3)
# %%
p["type_2"] = p["type_2"].fillna(p["type_1"])
p["type_2"].value_counts()
# %%
p.groupby("type_1")[stats].mean().idxmax()
# %%
p[p["legendary"]].index.tolist(), p["legendary"].sum()
# %%
p.groupby(["generation", "legendary"]).size().unstack(fill_value=0)
# %%
p.index = p.index.str.replace(r".*(?=Mega)", "", regex=True)
p.index[3]
# %%
best = p.loc[p.groupby("type_1")["attack"].idxmax(), ["type_1", "attack"]]
best
# %%
melted = p.reset_index().melt(id_vars=["name", "type_1"], value_vars=stats, var_name="stat")
melted.groupby(["type_1", "stat"])["value"].max().unstack()
# %%
np.where(p["speed"] > p["speed"].mean(), "fast", "slow").tolist()
