# spot: pixel_values
logits = model(pixel_values=pixel_values).logits
