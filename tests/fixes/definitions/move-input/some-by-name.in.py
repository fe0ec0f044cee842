# cause: input-not-moved
# spot: {k: v.to(device) if k in KEYS else v for k, v in batch.items()}
KEYS = ("image",)
for batch in loader:
    batch = {k: v.to(device) if k in KEYS else v for k, v in batch.items()}
    net(batch["image"], batch["mask"])
