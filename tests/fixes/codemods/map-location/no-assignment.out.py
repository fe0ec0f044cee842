# spot: net.load_state_dict(saved["net"], strict=False, assign=True)
def resume(net, path):
    saved = torch.load(path, map_location="cpu")
    net.load_state_dict(saved["net"], strict=False)
