# cause: kernel-needs-gpu
# spot: "cpu"
def main(model, store="cpu"):
    return CompressedEMA(model.parameters(), store)
