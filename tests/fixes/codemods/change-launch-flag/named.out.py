# cause: hardcoded-device
# spot: "cuda:4"
SETTINGS = {"rows": 3, "device": "cuda:0"}
