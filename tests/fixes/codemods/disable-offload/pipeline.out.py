# spot: pipe.enable_model_cpu_offload()
pipe.to(device)
