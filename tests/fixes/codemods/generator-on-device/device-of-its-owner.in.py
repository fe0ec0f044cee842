# spot: "cuda"
# devices: ;
# wanted: cpu
data = SensorData(seed=11, device="cuda")
