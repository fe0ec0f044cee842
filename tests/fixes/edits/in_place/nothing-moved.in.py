# no-to-on-quantized
out = model(ids)
