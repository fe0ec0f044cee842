# cause: optimizer-state
# spot: net.to(device)
# owner: opt
from mine import net, opt

net.to(device)
opt.load_state_dict(opt.state_dict())
