model = model
