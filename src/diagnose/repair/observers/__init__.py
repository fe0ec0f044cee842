"""What is seen in a run that passes: copies, models, optimizers, functions, and calls made twice."""
