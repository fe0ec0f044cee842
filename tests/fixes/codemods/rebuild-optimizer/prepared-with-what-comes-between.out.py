refused: what prepares the model needs what comes before it
