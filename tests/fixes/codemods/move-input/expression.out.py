# spot: batch.pop("intent")
intent = batch.pop("intent").to(device)
