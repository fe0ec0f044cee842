# spot: Net()
# devices: ;
# wanted: cuda:1
def make(): return Net()
