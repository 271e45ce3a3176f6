# %% Product reviews: cleaning of text, counts of words
import re
from collections import Counter
import pandas as pd

reviews = pd.DataFrame({
    "product": ["A", "B", "A", "C", "B", "A"],
    "stars": [5, 1, 4, 3, 2, 5],
    "review": [
        "Great product!! Works as expected :)",
        "  Terrible... broke after 2 days. DO NOT BUY",
        "Good value, would buy again - 10/10",
        None,
        "Not great, not terrible.",
        "Great great GREAT",
    ],
})
reviews.info()
reviews

# %%
reviews["clean"] = (
    reviews["review"]
    .fillna("")
    .str.lower()
    .str.replace(r"[^a-z\s]", " ", regex=True)
    .str.replace(r"\s+", " ", regex=True)
    .str.strip()
)
reviews["clean"].tolist()

# %%
reviews["n_words"] = reviews["clean"].str.split().str.len()
reviews["n_chars"] = reviews["review"].str.len()
reviews[["n_words", "n_chars"]]

# %%
counter = Counter()
reviews["clean"].str.split().apply(counter.update)
counter.most_common(3)

# %%
words = reviews["clean"].str.split(expand=True).stack()
words.value_counts().head(3)

# %%
tokens = reviews[["product", "clean"]].assign(token=reviews["clean"].str.split()).explode("token")
tokens = tokens[tokens["token"].notna() & (tokens["token"] != "")]
tokens.groupby("product")["token"].nunique()

# %%
stop = {"as", "after", "do", "not", "would"}
tokens[~tokens["token"].isin(stop)]["token"].value_counts().nlargest(2)

# %%
reviews["has_number"] = reviews["review"].str.contains(r"\d", na=False)
reviews["shouts"] = reviews["review"].str.count(r"[A-Z]{2,}")
reviews[["has_number", "shouts"]]

# %%
reviews["sentiment"] = reviews["stars"].map(lambda s: "pos" if s > 3 else ("neg" if s < 3 else "neutral"))
pd.crosstab(reviews["product"], reviews["sentiment"], margins=True)

# %%
numbers = reviews["review"].str.extractall(r"(\d+)")
numbers

# %%
numbers[0].astype(int).groupby(level=0).sum()

# %%
reviews["first"] = reviews["clean"].str.partition(" ")[0].str.title()
reviews["first"]

# %%
reviews["review"].str.findall(r"\b\w{7,}\b").dropna().tolist()

# %%
reviews.groupby("product").agg({"stars": ["mean", "min"], "n_words": "sum"})

# %%
reviews["product"].str.cat(reviews["stars"].astype(str), sep="-").tolist()

# %%
reviews["slug"] = reviews["clean"].str.slice(0, 12).str.rstrip().str.replace(" ", "_")
reviews["slug"].str.pad(15, side="right", fillchar=".")

# %%
reviews["review"].str.match("Great").fillna(False).sum()
