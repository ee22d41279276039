"""The finished implementation of Transformer Lessons, small enough to read in full.

The modules at the top level are those that the lessons build. Read them in this order: each module imports
only from those listed above it.

    validation     argument checks shared by all modules
    masks          who may attend to whom, and a softmax that respects it
    attention      scaled dot-product attention and multi-head attention
    positions      positional encodings: sinusoidal, learned, rotary
    layers         feed-forward, encoder layer, decoder layer
    modern         what GPT-2 and Llama put in the place of these parts
    models         encoder, encoder-decoder Transformer, language model
    first_steps    what lessons 1 and 2 build on the way

Everything else lives in a folder named for what it does.

    basis.atomic               atomic writes: a file holds all of the old content or all of the new
    basis.terminal             sentences for the person who typed a command, and colour where a terminal has it
    basis.chat_model           the chat model's file: kept outside the clone, downloaded once, verified
    basis.memory               what a learner has solved, and what comes next
    basis.numbers              the number of a question, however it is typed
    basis.words                lists in words
    basis.cells                what a notebook's cells hold, and the names that they make and use
    tasks.reversal             the reversal task
    tasks.repeats              repeated random blocks: a task for induction heads
    tasks.mock_play            an invented play of known entropy: the corpus that needs no download
    tasks.shakespeare          the complete works: found or downloaded, verified, cleaned, split
    language.tokenization      tokens, vocabularies, sequences
    language.splitting         a text split into words, and words into bytes, as GPT-2 does it
    language.byte_pairs        byte-pair encoding: merges learned from a text, and the tokenizer that applies them
    language.ngrams            n-gram models, with Witten-Bell smoothing
    language.checkpoints       models and runs in safetensors files: written atomically, verified before use
    language.muon              an optimizer for matrices, used alongside AdamW
    language.devices           where a model computes: device, precision, processes
    language.recipe            how to train: sizes, rates and how often
    language.batches           a text as ids, and batches of them
    language.progress_bar      where a run stands, and what you see of it
    language.training          steps, evaluation, and a run that can be stopped and resumed
    language.sampling          from logits to the next token, and from a prompt to a text, with a cache
    language.pretrained        published weights: GPT-2 and Llama from a folder
    language.gguf_file         GGUF files: their metadata and tensors, verified and turned into float32
    language.gguf_tokenizer    the tokenizer in such a file: byte pairs, with published ids
    language.gguf_model        the model in such a file, in the course's own decoder
    language.chat              a conversation with a chat model: as a text, and in a cache
    language.chat_cells        the chat model in a notebook, whose cells that need it run only where it is
    language.long_context      attention to long texts: sliding windows, softmax in blocks, attention in tiles
    inspection.attention_maps  a model's attention weights, read as it runs, and scores for its heads
    inspection.experiments     ablation, patching and the logit lens, in a model's own forward pass
    inspection.faults          six faults for a chat model: the bug hunt of lesson 10
    inspection.six_changes     what each change from GPT-2 to Llama did to the loss, as measured for lesson 10
    inspection.plots           every figure that shows numbers
    inspection.explorer        every head of a model, query by query
    inspection.playgrounds     pages that let readers play with a lesson's numbers
    inspection.live            a language model at work in a web page, without a server
    running.values             what an answer returns or is given: described, read as numbers, copied
    running.errors             an error in the same words everywhere, and the learner's line that raised it
    running.emptiness          does a function do anything at all?
    running.global_state       everything global that an answer could change, saved and restored
    running.sandbox            one call, with a time limit
    running.watching           every PyTorch operation of an answer, and how large the tensors are that it makes
    exercises                  the checks that name the mistake, and the questions
    tools.install              the environment that the README's two commands make
    tools.glossary             the course's terms, collected from the lessons
    tools.model_commands       train, generate, show, evaluate and chat, as typed in a terminal
    tools.doctor               what is installed, what is missing, and the command that fixes it
    tools.reset                a fresh copy of a lesson; the learner's own is kept beside it
    tools.progress             which exercises are solved, found by running the notebooks
    marking                    the teacher's kit: marks a class, in processes that can forge no marks
    __main__                   the command line: python3 -m transformer_lessons
"""
