m = load(p, device_map=({"": torch.cuda.current_device()}))
