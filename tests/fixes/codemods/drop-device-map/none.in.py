# spot: AutoModel.from_pretrained(name)
model = AutoModel.from_pretrained(name)
