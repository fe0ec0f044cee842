# spot: Net().to("cuda:1")
model = Net().to("cuda:1")
