# spot: init_empty_weights()
with init_empty_weights():
    model = Net()
