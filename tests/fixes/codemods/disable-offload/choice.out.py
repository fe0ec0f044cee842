# cause: zero-offload
# spot: parser.add_argument("--optimizer", choices=["cpu_adam", "adamw"], default="cpu_adam")
parser.add_argument("--optimizer", choices=["cpu_adam", "adamw"], default="adamw")
