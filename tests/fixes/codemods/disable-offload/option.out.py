# cause: zero-offload
# spot: parser.add_argument("--offload", action=argparse.BooleanOptionalAction, default=True)
parser.add_argument("--offload", action=argparse.BooleanOptionalAction, default=False)
