"""The finished implementation of Transformer Lessons, small enough to read whole.

The reading order is the import order: a module imports only from modules above it.

    sizes          what every room refuses, in words
    masks          who may attend to whom, and a softmax that keeps to it
    attention      scaled dot-product attention, and several heads of it at once
    positions      order, for a thing that has none
    layers         feed-forward, encoder layer, decoder layer
    models         encoder, encoder-decoder Transformer, language model
    reading        the attention of a model, read out while it runs
    toy            the reversal task
    text           tokens, vocabularies, sequences
    counting       models made by counting what follows what
    mock_play      an invented play whose entropy is known: the corpus that needs no download
    shakespeare    the complete works: found or downloaded, verified, cleaned, split
    checkpoints    models in files: written aside, verified before use
    training       batches, steps, evaluation, and a run that can be stopped
    generation     from logits to the next token, and on, with a cache
    first_steps    what lessons 1 and 2 build on the way
    plots          every picture of numbers
    explorer       every head of a model, to look at query by query
    exercises      the checks that name the mistake, and what they ask
    glossary       the course's words, gathered from the lessons
    commands       train, generate and evaluate, as one types them
    install        the environment that the README's two commands make
    doctor         what of it is missing or strange, and the command that mends it
    progress       which exercises are solved, found by running the notebooks
    reset          a fresh copy of a lesson, the learner's kept beside it
    __main__       the command line: python3 -m transformer_lessons
"""
