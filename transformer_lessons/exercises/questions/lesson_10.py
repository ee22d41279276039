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
        "A vector has two features, 1 and 7. If the gain is 1 and epsilon is negligible, what does RMSNorm turn "
        "the 7 into?",
        right=1.4,
        why="The squares are 1 and 49, so their mean is 25. The square root of that is 5, and 7 / 5 = 1.4.",
        slips={
            1: "This is what LayerNorm gives, because it subtracts the mean first. RMSNorm does not subtract anything.",
            7 / sqrt(50): "You divided by the square root of the sum of the squares. Divide by the root of their mean.",
            7 / 25: "You divided by the mean square. Divide by its square root.",
            7 / 4: "You divided by the mean of the features. Divide by the root of their mean square.",
        },
        pointer="Square the features, take the mean of the squares, and take the square root of that. "
        "Then divide the 7 by it.",
        tolerance=0.004,
    ),
    OneOf(
        "10.2",
        "Adding 10 to every feature",
        "Suppose you add 10 to every feature of a vector. The gain is 1, and LayerNorm's bias is 0. Which norm's "
        "result changes: LayerNorm's, RMSNorm's, both or neither?",
        (
            wrong("Both", "One of the norms subtracts the mean of the vector, and the 10 disappears with it."),
            wrong(
                "Only LayerNorm",
                "LayerNorm subtracts the mean, so a number added to all features disappears. Which norm does not "
                "subtract it?",
            ),
            right(
                "Only RMSNorm",
                "RMSNorm does not subtract anything, so the 10 stays in the features and in the number that they are "
                "divided by. LayerNorm subtracts the mean, and the 10 disappears with it.",
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
        why="2 × 768 × 3072 = 3 × 768 × 2048. So the hidden layer is two thirds as wide: 8/3 × d_model instead of "
        "4 × d_model. Llama 7B does the same: 8/3 × 4096, rounded up to a multiple of 256, is 11,008.",
        slips={
            3072: "Then there would be three maps, each as large as before, so 1.5 times as many weights.",
            1536: "This is half as wide as before, as if there were four maps in place of two, but there are three.",
            1024: "Then the three maps together have only as many weights as one of the two old ones.",
            4608: "There is one more map, so the hidden layer has to be narrower, not wider.",
        },
        pointer="Write down the weights of both: 2 × 768 × 3072, and 3 × 768 × the width.",
    ),
    OneOf(
        "10.4",
        "A bug report about pairs",
        "A project trains its models from scratch, with rotary pairs of features i and i + d/2. An issue on GitHub "
        "claims that this is a bug, because the RoFormer paper pairs neighbours. Is that right?",
        (
            right(
                "No: the model can learn either order.",
                "Training can put the features of a head in any order, provided that it is the same for queries "
                "and keys, so the model can learn either convention. It would be a bug only if the weights had been "
                "trained with the other convention.",
            ),
            wrong(
                "Yes: scores no longer depend only on the difference between positions.",
                "The angle of each pair is still the position times the pair's frequency, so the scores still depend "
                "only on the difference between positions. All that changes is which features form a pair.",
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
        why="Multiply 2 (keys and values) by 32 layers, 8 KV heads, 128 features per head and 2 bytes: "
        "2 × 32 × 8 × 128 × 2 = 131,072 bytes, or 128 KiB.",
        slips={
            32 * 8 * 128 * 2: "A factor of 2 is missing: keys and values are both kept, and each number takes 2 bytes.",
            32 * 8 * 128: "You counted numbers, not bytes, and you counted only the keys.",
            2 * 32 * 32 * 128 * 2: "You counted 32 heads, but only the 8 KV heads are kept.",
            2 * 8 * 128 * 2: "This is what one layer keeps, and there are 32 layers.",
            2 * 32 * 128 * 2: "You counted only one KV head per layer, and there are 8.",
        },
        pointer="Multiply: 2 (keys and values), layers, KV heads, features per head, bytes per number.",
    ),
    SeveralOf(
        "10.6",
        "Changes that lower the loss",
        "Several small models are trained for 300 steps on Shakespeare, with one token per character. Each differs "
        "from GPT-2 in one way. Even two runs of GPT-2 reach different losses if their seeds differ. Which changes "
        "lower the loss by more than the gap between two such runs?",
        (
            wrong(
                "RMSNorm instead of LayerNorm",
                "RMSNorm saves arithmetic and parameters, but the loss stays the same to within the noise.",
            ),
            right(
                "SwiGLU instead of GELU, with about the same number of weights",
                "SwiGLU lowers the loss with both of the seeds that we tried, by 0.09 and 0.04. But two seeds are too "
                "few to tell how much it helps on average.",
            ),
            right(
                "Rotary positions instead of learned ones",
                "With both seeds, they lower the loss by ten times the gap between two runs of GPT-2. Part of the "
                "reason is that the learned positions start so small.",
            ),
            wrong(
                "None: two runs of GPT-2 differ by more",
                "Two runs of GPT-2 differ by less than 0.03, and two of these changes lower the loss by more.",
            ),
        ),
    ),
    OneOf(
        "10.7",
        "A mistake that raises no error",
        "You copy GPT-2's weights into nn.Linear layers and forget to transpose them (d_model is 768). Which of these "
        "weights does load_state_dict load without an error?",
        (
            wrong("None: it checks all shapes.", "It does, but one of these weights is square."),
            wrong("mlp.c_fc", "Its shape is (768, 3072), but the layer expects (3072, 768), so there is an error."),
            right(
                "attn.c_proj",
                "Its shape is (768, 768), and its transpose has the same shape. So it loads without an error, but the "
                "model gives wrong results. The same would happen with the three square parts of c_attn.",
            ),
            wrong("mlp.c_proj", "Its shape is (3072, 768), but the layer expects (768, 3072), so there is an error."),
        ),
    ),
    FreeText(
        "10.8",
        "Changes that hardly affect the loss",
        "Using RMSNorm, dropping the biases and sharing KV heads changed the loss of our small models too little "
        "to tell from chance. Why do many of today's models use all three?",
        model="A lower loss is not the only reason to change a model. RMSNorm does less arithmetic for each vector "
        "than LayerNorm and has half as many parameters. Without biases, a model is a little simpler, and PaLM's "
        "authors reported that large models train more stably. In both cases, the loss stays the same to within the "
        "noise. Fewer KV heads make the cache smaller. A quarter of the heads need a quarter of the memory, so there "
        "is room for longer texts or larger batches, and the model has less to read for each new token.",
        points=(
            "RMSNorm does less arithmetic and has half the parameters, and the loss hardly changes.",
            "Without biases, models are simpler, and large ones may train more stably.",
            "With grouped-query attention, the cache shrinks in proportion to the number of KV heads.",
        ),
    ),
    FreeText(
        "10.9",
        "Checking that weights are loaded correctly",
        "You have written code that loads someone else's published weights, and it raises no error. How do you find "
        "out whether they are loaded correctly?",
        model="Run your model and a reference implementation with the same weights on the same tokens, and compare the "
        "numbers. In float64, the logits must agree to many decimal places. You get no error if you forget to "
        "transpose a square weight, swap gate and up, use the other convention for rotary pairs, or use another "
        "epsilon. To test the code, fill every tensor with random numbers, gains and biases included. Newly created "
        "norms have gains of 1 and biases of 0, and these values hide mistakes. Use float64, so that rounding does not "
        "hide mistakes either.",
        points=(
            "In float64, the logits must agree with those of a reference to many decimal places.",
            "Gains and biases should be random in the test, because 1 and 0 hide mistakes.",
            "Matching shapes and the absence of errors prove little.",
        ),
    ),
)
