# spot: load(path, quantization_config=config).to("cuda")
model = load(path, quantization_config=config).to("cuda").eval()
