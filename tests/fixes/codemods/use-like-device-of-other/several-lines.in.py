# spot: model(x) .features .cuda()
# devices: x.device
h = (
    model(x)
    .features
    .cuda()
)
