# spot: batch
logits = model(**{key: value.to(device) for key, value in batch.items()}).logits
