# move-tensor-at-line
y = (torch.rand(3) * real + fake)
#    ~~~~~~~~~~~~~~^~~~~~
