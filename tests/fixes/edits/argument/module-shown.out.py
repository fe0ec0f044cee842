out = model(ids.to(next(model.parameters()).device))
