# spot: net.load_state_dict(state)
net.load_state_dict(state)
