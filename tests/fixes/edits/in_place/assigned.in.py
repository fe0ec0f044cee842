# no-to-on-quantized
model = model.to(device)
