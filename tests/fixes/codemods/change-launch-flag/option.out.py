# cause: hardcoded-device
# spot: parser.add_argument("--gpu", type=int, default=5, help="which one")
parser.add_argument("--gpu", type=int, default=0, help="which one")
