# no-to-on-quantized
model.to(device)
