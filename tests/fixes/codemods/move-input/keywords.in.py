# spot: batch
logits = model(**batch).logits
