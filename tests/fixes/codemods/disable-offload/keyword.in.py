# spot: Engine(model, cpu_offload=True, low_vram=True)
engine = Engine(model, cpu_offload=True, low_vram=True)
