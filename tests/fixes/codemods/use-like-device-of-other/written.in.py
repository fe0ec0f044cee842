# spot: "cuda:0"
# devices: f"cuda:{GPU}"
ds = ds.with_format("torch", device="cuda:0")
