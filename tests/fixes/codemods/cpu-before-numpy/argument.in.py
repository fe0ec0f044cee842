# spot: f1_score(golds, preds)
# name: preds
score = f1_score(golds, preds)
