# spot: Net()
# devices: ;
# wanted: cuda
model = Net()
