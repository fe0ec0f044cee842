# spot: model(ids).argmax(-1)
preds.append(model(ids).argmax(-1).cpu())
