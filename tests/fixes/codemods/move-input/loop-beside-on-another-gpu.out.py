# spot: for rows, kinds in loader:
# cause: input-not-moved
# name: kinds
# wanted: cuda:2
# beside: rows = rows.to("cuda:0")
for rows, kinds in loader:
    kinds = kinds.to("cuda:2")
    rows = rows.to("cuda:0")
    loss(halves(rows), kinds)
