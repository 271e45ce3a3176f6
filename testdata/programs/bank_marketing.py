# %% Bank customers: encodings and balances
import io
import numpy as np
import pandas as pd
from sklearn.preprocessing import LabelEncoder, MinMaxScaler

bank = pd.read_csv(io.StringIO('''"age";"job";"marital";"education";"default";"balance";"housing";"month";"duration";"y"
58;"management";"married";"tertiary";"no";2143;"yes";"may";261;"no"
44;"technician";"single";"secondary";"no";29;"yes";"may";151;"no"
33;"entrepreneur";"married";"secondary";"no";2;"yes";"jun";76;"yes"
47;"blue-collar";"married";"unknown";"no";1506;"yes";"jul";92;"no"
33;"unknown";"single";"unknown";"no";1;"no";"may";198;"no"
35;"management";"married";"tertiary";"no";231;"yes";"aug";139;"yes"
28;"management";"single";"tertiary";"yes";447;"yes";"may";217;"no"
42;"entrepreneur";"divorced";"tertiary";"no";-12;"yes";"jun";380;"yes"
'''), sep=";", quotechar='"')
bank.shape

# %%
bank.select_dtypes("object").columns.tolist() or bank.select_dtypes(include="str").columns.tolist()

# %%
bank = bank.replace("unknown", np.nan)
bank.isnull().sum()[lambda s: s > 0]

# %%
bank["education"] = bank["education"].fillna(bank["education"].mode().iloc[0])
bank["job"] = bank["job"].fillna("other")
bank["education"].value_counts()

# %%
binary = {"yes": 1, "no": 0}
for col in ["default", "housing", "y"]:
    bank[col] = bank[col].map(binary)
bank[["default", "housing", "y"]].sum()

# %%
edu = pd.CategoricalDtype(["primary", "secondary", "tertiary"], ordered=True)
bank["edu_code"] = bank["education"].astype(edu).cat.codes
bank["edu_code"].tolist()

# %%
le = LabelEncoder()
bank["job_code"] = le.fit_transform(bank["job"])
dict(zip(le.classes_, range(len(le.classes_))))

# %%
bank["marital"].astype("category").cat.codes.tolist()

# %%
scaler = MinMaxScaler()
bank[["balance_s", "duration_s"]] = scaler.fit_transform(bank[["balance", "duration"]])
bank[["balance_s", "duration_s"]].round(3)

# %%
months = {m: i for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
bank["month_no"] = bank["month"].map(months)
bank.groupby("month_no")["y"].mean()

# %%
bank.groupby("job")["balance"].agg(["mean", "count"]).query("count > 1")

# %%
onehot = pd.get_dummies(bank[["marital", "job"]], prefix=["m", "j"], dtype=float)
onehot.columns.tolist()

# %%
full = pd.concat([bank[["age", "y"]], onehot], axis=1)
full.corr()["y"].drop("y").round(3).sort_values().index[-1]

# %%
bank["age_bin"] = pd.cut(bank["age"], 3, labels=["young", "mid", "old"])
bank.groupby(["age_bin", "marital"], observed=False)["y"].sum().unstack(fill_value=0)

# %%
X = bank.drop(columns=["y"]).select_dtypes(np.number)
X.std().sort_values(ascending=False).index[0], X.shape

# %%
np.log(bank["balance"].clip(lower=1)).round(2).tolist()
