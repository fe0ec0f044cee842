# spot: AutoModel.from_pretrained(name, device_map="auto")
# devices: local_rank
model = AutoModel.from_pretrained(name, device_map="auto")
