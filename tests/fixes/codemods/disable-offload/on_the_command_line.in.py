# cause: zero-offload
# spot: parser.add_argument("--offload", action="store_true")
parser.add_argument("--offload", action="store_true")
