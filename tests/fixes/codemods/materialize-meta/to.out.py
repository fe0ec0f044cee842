# spot: model.to(device)
model.to_empty(device=device)
model.load_state_dict(state)
