refused: what infer_auto_device_map gives has no .to
