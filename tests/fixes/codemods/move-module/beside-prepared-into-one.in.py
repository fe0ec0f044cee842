# spot: accelerator.prepare(model, optimizer)
# name: critic(x)
# owner: critic
# devices: accelerator.device
critic = Critic()
prepared = accelerator.prepare(model, optimizer)
