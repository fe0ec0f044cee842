# spot: loader
# name: batch
for batch in loader:
    loss = model(**batch).loss
