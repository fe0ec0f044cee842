# spot: load(path)
# name: model
model, tokenizer = load(path)  # both
