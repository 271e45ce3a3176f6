# %% A questionnaire: Likert answers, weights, missing answers
import io
import pandas as pd
import numpy as np

raw = io.StringIO("""respondent;age;gender;q1;q2;q3;comment
1;34;F;Agree;Neutral;Strongly agree;Very good!
2;n/a;M;Disagree;Disagree;Agree;
3;51;F;Strongly disagree;;Neutral;could be better
4;28;Other;Neutral;Agree;Agree;  OK  
5;45;M;Agree;Agree;;N/A
6;19;F;Strongly agree;Strongly agree;Strongly agree;LOVE it
7;63;M;Disagree;Neutral;Strongly disagree;too slow, too expensive
8;37;F;Agree;Agree;Agree;fine
""")
df = pd.read_csv(raw, sep=";", index_col="respondent")
df

# %%
df.info()

# %%
scale = {"Strongly disagree": 1, "Disagree": 2, "Neutral": 3, "Agree": 4, "Strongly agree": 5}
questions = ["q1", "q2", "q3"]
num = df[questions].replace(scale).astype(float)
num.mean()

# %%
num = df[questions].apply(lambda c: c.map(scale))
num.mean(axis=1).round(2)

# %%
df["score"] = num.mean(axis=1, skipna=True)
df["answered"] = num.notna().sum(axis=1)
df[["score", "answered"]]

# %%
df["age_group"] = pd.cut(df["age"], [0, 30, 45, 100], labels=["young", "middle", "older"], right=False)
df["age_group"].value_counts(dropna=False)

# %%
df.groupby("age_group", observed=True)["score"].agg(["mean", "std", "size"])

# %%
long = df.reset_index().melt(id_vars=["respondent", "gender"], value_vars=questions, var_name="question", value_name="answer")
long.head(10)

# %%
counts = long.groupby("question")["answer"].value_counts().unstack(fill_value=0)
counts = counts.reindex(columns=list(scale))
counts

# %%
counts.div(counts.sum(axis=1), axis=0).mul(100).round(1)

# %%
pd.crosstab(long["gender"], long["answer"], normalize="index").round(2)

# %%
likert = pd.CategoricalDtype(list(scale), ordered=True)
q1 = df["q1"].astype(likert)
q1.min(), q1.max(), (q1 >= "Agree").sum()

# %%
df["comment"].str.strip().str.lower().str.len()

# %%
df["comment"].fillna("").str.contains("too|slow", regex=True).sum()

# %%
num.corr(method="spearman")

# %%
alpha_items = num.dropna()
k = alpha_items.shape[1]
alpha = k / (k - 1) * (1 - alpha_items.var(ddof=1).sum() / alpha_items.sum(axis=1).var(ddof=1))
round(alpha, 4)
