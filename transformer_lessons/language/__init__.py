"""Language models: tokens, n-grams, checkpoints, training, sampling, and the course's own model."""
