# spot: AutoModel.from_pretrained(name, device_map="auto")
model = AutoModel.from_pretrained(name, device_map="auto")
