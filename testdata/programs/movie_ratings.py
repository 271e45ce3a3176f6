# %% Movies with several genres in one text, ratings by users
import numpy as np
import pandas as pd

movies = pd.DataFrame({
    "movieId": [1, 2, 3, 4, 5],
    "title": ["Toy Story (1995)", "Heat (1995)", "Casino (1995)", "Babe (1995)", "Se7en (1996)"],
    "genres": ["Animation|Children|Comedy", "Action|Crime|Thriller", "Crime|Drama", "Children|Drama", "Mystery|Thriller"],
})
rng = np.random.RandomState(3)
ratings = pd.DataFrame({
    "userId": rng.randint(1, 9, 60),
    "movieId": rng.randint(1, 6, 60),
    "rating": rng.choice([1, 2, 3, 3.5, 4, 4.5, 5], 60),
    "timestamp": rng.randint(964982703, 1537799250, 60),
})
ratings = ratings.drop_duplicates(["userId", "movieId"], keep="last")
len(ratings)

# %%
movies["year"] = movies["title"].str.extract(r"\((\d{4})\)").astype(int)
movies["title"] = movies["title"].str.replace(r"\s*\(\d{4}\)", "", regex=True)
movies

# %%
ratings["when"] = pd.to_datetime(ratings["timestamp"], unit="s")
ratings["when"].dt.year.value_counts().sort_index().head()

# %%
genres = movies["genres"].str.get_dummies(sep="|")
genres.sum().sort_values(ascending=False)

# %%
exploded = movies.assign(genre=movies["genres"].str.split("|")).explode("genre")
exploded[["title", "genre"]]

# %%
merged = ratings.merge(movies[["movieId", "title", "year"]], on="movieId")
stats = merged.groupby("title")["rating"].agg(["count", "mean"])
stats[stats["count"] >= 5].sort_values("mean", ascending=False)

# %%
matrix = ratings.pivot(index="userId", columns="movieId", values="rating")
matrix

# %%
matrix.sub(matrix.mean(axis=1), axis=0).fillna(0).round(3)

# %%
matrix.corrwith(matrix[1]).dropna()

# %%
by_genre = ratings.merge(exploded[["movieId", "genre"]], on="movieId").groupby("genre")["rating"].mean()
by_genre.round(3)

# %%
C = stats["mean"].mean()
m = stats["count"].quantile(0.6)
stats["weighted"] = (stats["count"] * stats["mean"] + m * C) / (stats["count"] + m)
stats.sort_values("weighted", ascending=False).head(3)

# %%
user_stats = ratings.groupby("userId").rating.describe()
user_stats[["count", "mean", "50%"]]

# %%
active = ratings["userId"].value_counts()
active[active > 3].index.tolist()

# %%
merged.loc[merged.groupby("userId")["rating"].idxmax(), ["userId", "title", "rating"]].sort_values("userId").reset_index(drop=True)
