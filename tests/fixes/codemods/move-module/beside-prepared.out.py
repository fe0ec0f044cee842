# spot: accelerator.prepare(model, optimizer)
# name: critic(x)
# owner: critic
# devices: accelerator.device
critic = Critic()
model, optimizer, critic = accelerator.prepare(model, optimizer, critic)
