# spot: get_peft_model(model, config, low_cpu_mem_usage=low)
model = get_peft_model(model, config, low_cpu_mem_usage=low)
