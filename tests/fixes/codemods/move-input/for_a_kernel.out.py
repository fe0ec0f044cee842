# cause: kernel-needs-gpu
# spot: "cpu"
def main(model, store="cuda"):
    return CompressedEMA(model.parameters(), store)
