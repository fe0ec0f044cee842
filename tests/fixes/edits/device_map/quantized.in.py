# drop-device-map
model = AutoModel.from_pretrained(name, device_map="auto", load_in_8bit=True)
