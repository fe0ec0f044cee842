# spot: model.set_labels(6)
model.set_labels(6)
