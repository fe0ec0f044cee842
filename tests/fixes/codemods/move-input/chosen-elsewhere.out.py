# cause: input-on-wrong-shard
# spot: x.to("cuda:0")
# devices: ;
# wanted: cuda:1
x, y = x.to("cuda:1"), y.to("cuda:0")
loss(pipeline(x), y)
