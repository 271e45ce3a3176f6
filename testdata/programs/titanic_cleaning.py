# %% Passengers: a first look and the usual cleaning
import io
import numpy as np
import pandas as pd

data = io.StringIO("""PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Parch,Ticket,Fare,Cabin,Embarked
1,0,3,"Braund, Mr. Owen Harris",male,22,1,0,A/5 21171,7.25,,S
2,1,1,"Cumings, Mrs. John Bradley",female,38,1,0,PC 17599,71.2833,C85,C
3,1,3,"Heikkinen, Miss. Laina",female,26,0,0,STON/O2. 3101282,7.925,,S
4,1,1,"Futrelle, Mrs. Jacques Heath",female,35,1,0,113803,53.1,C123,S
5,0,3,"Allen, Mr. William Henry",male,35,0,0,373450,8.05,,S
6,0,3,"Moran, Mr. James",male,,0,0,330877,8.4583,,Q
7,0,1,"McCarthy, Mr. Timothy J",male,54,0,0,17463,51.8625,E46,S
8,0,3,"Palsson, Master. Gosta Leonard",male,2,3,1,349909,21.075,,S
9,1,3,"Johnson, Mrs. Oscar W",female,27,0,2,347742,11.1333,,S
10,1,2,"Nasser, Mrs. Nicholas",female,14,1,0,237736,30.0708,,C
11,1,3,"Sandstrom, Miss. Marguerite Rut",female,4,1,1,PP 9549,16.7,G6,S
12,1,1,"Bonnell, Miss. Elizabeth",female,58,0,0,113783,26.55,C103,
""")
df = pd.read_csv(data)
df.head()

# %%
df.shape, df.columns.tolist()

# %%
df.dtypes

# %%
df.isnull().sum().sort_values(ascending=False)

# %%
df["Title"] = df["Name"].str.extract(r" ([A-Za-z]+)\.", expand=False)
df["Title"].value_counts()

# %%
df["Title"] = df["Title"].replace({"Mlle": "Miss", "Ms": "Miss"})
pd.crosstab(df["Title"], df["Sex"])

# %%
df["Age"] = df.groupby("Title")["Age"].transform(lambda x: x.fillna(x.median()))
df["Age"].describe()

# %%
df["Embarked"] = df["Embarked"].fillna(df["Embarked"].mode()[0])
df["Cabin"] = df["Cabin"].fillna("Unknown")
df["Deck"] = df["Cabin"].str[0]
df["Deck"].unique()

# %%
df["FamilySize"] = df["SibSp"] + df["Parch"] + 1
df["IsAlone"] = 0
df.loc[df["FamilySize"] == 1, "IsAlone"] = 1
df[["FamilySize", "IsAlone"]].head(10)

# %%
df["AgeBand"] = pd.cut(df["Age"], bins=[0, 12, 20, 40, 120], labels=["Child", "Teen", "Adult", "Elder"])
df["FareBand"] = pd.qcut(df["Fare"], 4)
df.groupby("AgeBand", observed=False)["Survived"].mean()

# %%
df[["Pclass", "Survived"]].groupby(["Pclass"], as_index=False).mean().sort_values(by="Survived", ascending=False)

# %%
df.pivot_table(values="Survived", index="Sex", columns="Pclass", aggfunc="mean")

# %%
df["Sex"] = df["Sex"].map({"female": 1, "male": 0}).astype(int)
df["LastName"] = df["Name"].apply(lambda n: n.split(",")[0])
df[["Sex", "LastName"]].tail(3)

# %%
dummies = pd.get_dummies(df["Embarked"], prefix="port")
df = pd.concat([df, dummies], axis=1)
df = df.drop(["Name", "Ticket", "Cabin"], axis=1)
df.columns

# %%
corr = df[["Survived", "Pclass", "Sex", "Age", "Fare", "FamilySize"]].corr()
corr["Survived"].sort_values(ascending=False)
