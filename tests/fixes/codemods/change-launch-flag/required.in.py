# cause: hardcoded-device
# spot: parser.add_argument("--gpu", type=int, required=True)
parser.add_argument("--gpu", type=int, required=True)
