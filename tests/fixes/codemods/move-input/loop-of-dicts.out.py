# spot: loader
# name: batch
for batch in loader:
    batch = {key: value.to(device) for key, value in batch.items()}
    loss = model(**batch).loss
