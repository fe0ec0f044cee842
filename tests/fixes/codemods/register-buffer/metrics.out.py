refused: MetricCollection makes no tensor
