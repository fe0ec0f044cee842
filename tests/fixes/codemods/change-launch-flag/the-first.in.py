# cause: hardcoded-device
# spot: "cuda:0"
SETTINGS = {"device": "cuda:0"}
