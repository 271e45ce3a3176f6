# %% Words as features
import pandas as pd
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
mails = pd.DataFrame({"label": ["ham", "spam", "ham", "spam", "ham", "spam"], "text": ["see you at lunch", "WIN money now!!!", "meeting moved to 3pm", "free money click now", "lunch tomorrow?", "you win a FREE prize"]})
mails["label"].value_counts()
# %%
mails["length"] = mails["text"].str.len()
mails.groupby("label")["length"].mean()
# %%
mails["caps"] = mails["text"].str.count(r"[A-Z]") / mails["length"]
mails["caps"].round(3).tolist()
# %%
mails["clean"] = mails["text"].str.lower().str.replace(r"[^a-z ]", "", regex=True)
vec = CountVectorizer()
X = vec.fit_transform(mails["clean"])
X.shape
# %%
counts = pd.DataFrame(X.toarray(), columns=vec.get_feature_names_out())
counts.sum().sort_values(ascending=False, kind="stable").head(3)
# %%
by_label = counts.groupby(mails["label"]).sum()
(by_label.loc["spam"] - by_label.loc["ham"]).nlargest(2).sum()
# %%
model = MultinomialNB().fit(X, mails["label"])
model.predict(vec.transform(["free lunch money"])).tolist()
# %%
mails["pred"] = model.predict(X)
pd.crosstab(mails["label"], mails["pred"])
# %%
(mails["label"] == mails["pred"]).mean()
# %%
mails["y"] = mails["label"].map({"ham": 0, "spam": 1})
mails[["y", "length", "caps"]].corr().round(3)
