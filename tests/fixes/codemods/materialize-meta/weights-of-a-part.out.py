# spot: net.load_state_dict(state, strict=False, assign=True)
net.load_state_dict(state, strict=False, assign=True)
for layer in net.modules():
    if any(weight.is_meta for weight in layer.parameters(recurse=False)):
        layer.to_empty(device=next(iter(state.values())).device, recurse=False)
        layer.reset_parameters()
