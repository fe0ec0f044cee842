# spot: model.to(device)
model.to(device)
model.load_state_dict(state)
