"""Questions of lesson 10: modern models, in the order in which they are met."""

from math import sqrt

from transformer_lessons.exercises.questions.question import (
    FreeText,
    Number,
    OneOf,
    SeveralOf,
    right,
    wrong,
)

QUESTIONS = (
    Number(
        "10.1",
        "RMSNorm by hand",
        "A vector has two features, 1 and 7. What does RMSNorm (gain 1, a negligible epsilon) turn the 7 into?",
        right=1.4,
        why="The squares are 1 and 49, their mean is 25, its square root is 5, and 7 / 5 = 1.4.",
        slips={
            1: "This is LayerNorm: you subtracted the mean first. RMSNorm subtracts nothing.",
            7 / sqrt(50): "You divided by the square root of the sum of the squares. Divide by the root of their mean.",
            7 / 25: "You divided by the mean square. Divide by its square root.",
            7 / 4: "You divided by the mean of the features. Divide by the root of their mean square.",
        },
        pointer="Square the features, take the mean, and take its square root; then divide.",
        tolerance=0.004,
    ),
    OneOf(
        "10.2",
        "Adding 10 to every feature",
        "Suppose you add 10 to every feature of a vector. With gain 1 and bias 0, whose result changes: LayerNorm's, "
        "RMSNorm's, both or neither?",
        (
            wrong("Both", "One of them subtracts the mean of the vector, and the 10 with it."),
            wrong(
                "Only LayerNorm",
                "LayerNorm subtracts the mean, so a number added to all features disappears. Which norm does not "
                "subtract it?",
            ),
            right(
                "Only RMSNorm",
                "RMSNorm subtracts nothing, so the 10 stays, both in the features and in the number they are "
                "divided by. LayerNorm subtracts the mean, and the 10 with it.",
            ),
            wrong("Neither", "A norm that does not subtract the mean keeps the 10."),
        ),
    ),
    Number(
        "10.3",
        "The same number of weights, with a gate",
        "GPT-2's feed-forward has two linear maps, with d_model = 768 and a hidden layer of 3072. A SwiGLU "
        "feed-forward has three. How wide must its hidden layer be for both to have the same number of weights (not "
        "counting biases)?",
        right=2048,
        why="2 × 768 × 3072 = 3 × 768 × 2048: two thirds of the width, so 8/3 × d_model instead of 4 × d_model. "
        "Llama 7B does the same: 8/3 × 4096, rounded up to a multiple of 256, is 11,008.",
        slips={
            3072: "Then there would be 1.5 times as many weights: three maps, each as large as before.",
            1536: "This is half as wide. There are three maps in place of two, not four.",
            1024: "Then the three maps together have only as many weights as one of the two old ones.",
            4608: "It has to be narrower, since there is one more map.",
        },
        pointer="Write down the weights of both: 2 × 768 × 3072, and 3 × 768 × the width.",
    ),
    OneOf(
        "10.4",
        "A bug report about pairs",
        "A project trains its models from scratch, with rotary pairs of features i and i + d/2. An issue on GitHub "
        "claims that this is a bug, because the RoFormer paper pairs neighbours. Is it?",
        (
            right(
                "No: training can learn either order.",
                "Training can put the features of a head in any order, as long as it is the same for queries and "
                "keys, so it can fit either convention. It would be a bug only with weights that were trained with "
                "the other one.",
            ),
            wrong(
                "Yes: scores no longer depend only on the difference between positions.",
                "Each pair is still rotated by an angle of position times frequency, so the scores still depend only "
                "on the difference. All that changes is which features form a pair.",
            ),
            wrong(
                "Yes: half of the features are not rotated.",
                "Every feature is in exactly one pair, whichever convention is used.",
            ),
            wrong(
                "No: training makes up for the lost information.",
                "No information is lost, so there is nothing for training to make up for.",
            ),
        ),
    ),
    Number(
        "10.5",
        "The cache of one token",
        "A model has 32 layers, 32 query heads and 8 KV heads, with 128 features per head, and stores each "
        "number in 2 bytes. By how many bytes does its cache grow with each token?",
        right=2 * 32 * 8 * 128 * 2,
        why="Keys and values, 32 layers, 8 heads of 128 features, 2 bytes each: 2 × 32 × 8 × 128 × 2 = 131,072 "
        "bytes, or 128 KiB.",
        slips={
            32 * 8 * 128 * 2: "A factor of 2 is missing: keys and values are both kept, and each number takes 2 bytes.",
            32 * 8 * 128: "This counts numbers, not bytes, and only those of the keys.",
            2 * 32 * 32 * 128 * 2: "You counted 32 heads. Only the 8 KV heads are kept.",
            2 * 8 * 128 * 2: "This is one layer. There are 32.",
            2 * 32 * 128 * 2: "This is one KV head. There are 8.",
        },
        pointer="Multiply: 2 (keys and values), layers, KV heads, features per head, bytes per number.",
    ),
    SeveralOf(
        "10.6",
        "Which changes pay off",
        "Small models, each with one change from GPT-2, are trained on 300 batches of Shakespeare's characters. Which "
        "changes lower the loss by more than the gap between two runs of GPT-2 with different seeds?",
        (
            wrong(
                "RMSNorm for LayerNorm",
                "The losses agree to within the noise. What RMSNorm saves is arithmetic and parameters.",
            ),
            right(
                "SwiGLU for GELU, with about the same number of weights",
                "SwiGLU lowers the loss with both seeds, by 0.09 and 0.04. Two seeds are too few to tell how much it "
                "helps on average.",
            ),
            right(
                "Rotary positions for learned ones",
                "They lower the loss with both seeds, by ten times the gap between two runs of GPT-2. Part of this is "
                "due to how small the learned positions are at the start.",
            ),
            wrong(
                "None: two runs of GPT-2 differ by more",
                "Two runs of GPT-2 differ by less than 0.03, and two of these changes lower the loss by more.",
            ),
        ),
    ),
    OneOf(
        "10.7",
        "A mistake without an error",
        "You copy GPT-2's weights into nn.Linear layers and forget to transpose them (d_model is 768). For which of "
        "these does load_state_dict raise no error?",
        (
            wrong("None: it checks all shapes.", "It does, but for one of them the two shapes are the same."),
            wrong("mlp.c_fc", "It is (768, 3072), and the layer expects (3072, 768): an error."),
            right(
                "attn.c_proj",
                "It is (768, 768), and so is its transpose. It loads, as would the three square parts of "
                "c_attn, and the model gives different results.",
            ),
            wrong("mlp.c_proj", "It is (3072, 768), and the layer expects (768, 3072): an error."),
        ),
    ),
    FreeText(
        "10.8",
        "Changes that hardly affect the loss",
        "Using RMSNorm, dropping the biases and sharing KV heads changed the loss of our small models by too little "
        "to tell from chance. Why do many of today's models do all three?",
        model="A lower loss is not the only reason to change a model. RMSNorm does less arithmetic for each vector and "
        "has half the parameters, while the loss stays the same to within the noise. It also stays the same without "
        "biases; PaLM's authors reported that large models then train more stably. Fewer KV heads make the cache "
        "smaller: a quarter of the heads need a quarter of the memory, so longer texts or larger batches fit, and "
        "there is less to read for each new token.",
        points=(
            "RMSNorm: less arithmetic, half the parameters, the same loss to within the noise.",
            "No biases: a simpler model, the same loss to within the noise; large models may train more stably.",
            "Grouped queries: the cache shrinks in proportion to the number of KV heads.",
        ),
    ),
    FreeText(
        "10.9",
        "Checking that weights are loaded correctly",
        "You have written code that loads someone else's published weights, and it raises no error. How do you find "
        "out whether they are loaded correctly?",
        model="Compare numbers with those of a reference implementation, on the same weights and the same tokens: the "
        "logits must agree to many decimal places. A square weight that was not transposed, gate and up swapped, the "
        "other rotary convention, another epsilon: none of them raises an error. To test the code, fill every tensor "
        "with random numbers, gains and biases included, because newly created norms have gains of 1 and biases of 0, "
        "which hide mistakes. And use float64, so that rounding does not hide them either.",
        points=(
            "The same logits as a reference implementation, to many decimal places.",
            "Random gains and biases, since 1 and 0 hide mistakes.",
            "Matching shapes and the absence of errors prove little.",
        ),
    ),
)
