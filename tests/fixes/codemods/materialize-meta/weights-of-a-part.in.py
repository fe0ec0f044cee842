# spot: net.load_state_dict(state, strict=False, assign=True)
net.load_state_dict(state, strict=False, assign=True)
