# %% Listings of flats: money in text, amenities, hosts
import io
import numpy as np
import pandas as pd

df = pd.read_csv(io.StringIO('''id,name,host_name,neighbourhood,room_type,price,minimum_nights,number_of_reviews,last_review,amenities
1,"Cozy flat, center",Ana,Mitte,Entire home,"$85.00",2,120,2024-03-01,"{Wifi,Kitchen,Heating}"
2,Room with view,Ben,Kreuzberg,Private room,"$42.00",1,8,2023-11-15,"{Wifi}"
3,LOFT!!,Ana,Mitte,Entire home,"$1,250.00",30,0,,"{Kitchen,Heating,Pool}"
4,quiet studio,Cem,Neukölln,Entire home,"$60.00",3,44,2024-02-20,"{Wifi,Kitchen}"
5,Shared loft,Dora,Kreuzberg,Shared room,"$20.00",1,2,2022-08-08,"{}"
6,Family flat,Ana,Pankow,Entire home,"$110.00",4,75,2024-03-10,"{Wifi,Kitchen,Heating,Crib}"
'''))
df.info()

# %%
df["price"] = df["price"].str.replace("$", "", regex=False).str.replace(",", "").astype(float)
df["price"].describe()

# %%
df["last_review"] = pd.to_datetime(df["last_review"])
df["days_since"] = (pd.Timestamp("2024-03-31") - df["last_review"]).dt.days
df[["id", "days_since"]]

# %%
df = df[df["price"] < df["price"].quantile(0.95)]
df.shape

# %%
df.groupby("neighbourhood")["price"].agg(["mean", "median", "count"]).sort_values("mean", ascending=False)

# %%
df.groupby(["neighbourhood", "room_type"]).size().reset_index(name="n")

# %%
df["amenities"] = df["amenities"].str.strip("{}")
df["n_amenities"] = np.where(df["amenities"] == "", 0, df["amenities"].str.count(",") + 1)
df[["name", "n_amenities"]]

# %%
am = df["amenities"].str.get_dummies(sep=",")
am.sum().sort_values(ascending=False).head(3)

# %%
df = df.join(am[["Wifi", "Kitchen"]])
df.groupby("Wifi")["price"].mean()

# %%
hosts = df.groupby("host_name").agg(listings=("id", "count"), mean_price=("price", "mean"), reviews=("number_of_reviews", "sum"))
hosts[hosts["listings"] > 1]

# %%
df["name"] = df["name"].str.title()
df.loc[df["name"].str.contains("flat", case=False), ["id", "name"]]

# %%
df["popular"] = df["number_of_reviews"].apply(lambda n: "yes" if n > 50 else "no")
pd.crosstab(df["neighbourhood"], df["popular"])

# %%
df["review_month"] = df["last_review"].dt.strftime("%b %Y")
df["review_month"].fillna("never").tolist()

# %%
df.sort_values(["neighbourhood", "price"]).groupby("neighbourhood").first()[["name", "price"]]

# %%
df["rank"] = df.groupby("neighbourhood")["price"].rank(method="dense").astype(int)
df.set_index("id")["rank"]
