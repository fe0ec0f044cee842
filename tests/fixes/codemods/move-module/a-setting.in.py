# spot: parser.add_argument("--device", default="cpu")
# cause: kernel-needs-gpu
parser.add_argument("--device", default="cpu")
