# cause: quantized-placement
# spot: options.add_argument("--card", type=int, default=1)
# devices: ;
options.add_argument("--card", type=int, default=1)
