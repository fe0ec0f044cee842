# spot: SGD(params)
optimizer = SGD(params)
