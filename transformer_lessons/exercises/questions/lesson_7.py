"""Questions of lesson 7: the full model, in the order in which they are met."""

from math import sqrt

from transformer_lessons.exercises.questions.question import (
    FreeText,
    Number,
    OneOf,
    SeveralOf,
    Shape,
    right,
    wrong,
)

ATTENTION = 4 * (512 * 512 + 512)
FEED_FORWARD = (512 * 2048 + 2048) + (2048 * 512 + 512)
LAYER_NORM = 2 * 512
ENCODER_LAYER = ATTENTION + FEED_FORWARD + 2 * LAYER_NORM

QUESTIONS = (
    Number(
        "7.1",
        "Layer norm by hand",
        "A token has two features, 1 and 5. What does the second feature become after layer norm (gain 1, "
        "bias 0, a negligible epsilon)?",
        right=1,
        why="The mean is 3, and the deviations are -2 and 2. Their mean square is 4, its root is 2, and "
        "(5 - 3) / 2 = 1.",
        slips={
            sqrt(1 / 2): "You divided the sum of squares by one less than n. Layer norm takes the mean "
            "over all n features.",
            0.5: "You divided by the variance. Divide by its square root, the standard deviation.",
            2: "This is the deviation from the mean. It still has to be divided.",
            2.5: "You divided without subtracting the mean first.",
        },
        pointer="Subtract the mean, then divide by the root of the mean square of the deviations.",
        tolerance=0.005,
    ),
    OneOf(
        "7.2",
        "A feed-forward layer without its ReLU",
        "The feed-forward layer is linear_in (512 → 2048), ReLU, linear_out (2048 → 512). What is left of "
        "it without the ReLU?",
        (
            right(
                "A layer that could be replaced by one linear map, 512 → 512",
                "Two linear maps in a row are one linear map, and the width in between adds nothing. Only "
                "the ReLU makes the 2048 features useful.",
            ),
            wrong(
                "A function that is still nonlinear, thanks to the biases",
                "A bias shifts the output by the same amount for every input. It does not make the layer nonlinear.",
            ),
            wrong(
                "A layer through which no gradient flows",
                "Linear maps pass gradients on. If anything here stops a gradient, it is the ReLU, which "
                "does so where its input is negative.",
            ),
            wrong(
                "A richer layer, because no feature is cut off at 0",
                "Cutting features off at 0 is what lets them count for some inputs and not for others. "
                "Multiply the two matrices, and see what remains.",
            ),
        ),
    ),
    Number(
        "7.3",
        "The parameters of a feed-forward layer",
        "A feed-forward layer has d_model = 512 and d_hidden = 2048, and both its linear maps have biases. "
        "How many parameters does it have?",
        right=FEED_FORWARD,
        why="(512 × 2048 + 2048) + (2048 × 512 + 512) = 2,099,712. Biases aside, that is twice as many as "
        "in multi-head attention of the same width.",
        slips={
            2 * 512 * 2048: "These are the weights alone: each output of a linear map has a bias as well.",
            512 * 2048 + 2048: "This is linear_in alone.",
            2 * (512 * 2048 + 2048): "The second map has as many weights as the first, but fewer biases: "
            "one for each output.",
            2 * (512 * 2048 + 512): "The second map has as many weights as the first, but the first has more biases.",
        },
        pointer="Count the weights and the biases of linear_in, then those of linear_out.",
    ),
    Number(
        "7.4",
        "A gradient through ten skips",
        "Ten layers follow one another. Each has a skip: its output is x + f(x), and f has slope 0.1. "
        "What is the slope of all ten together, to two decimal places?",
        right=1.1**10,
        why="Each layer has slope 1 + 0.1, and 1.1 to the power of 10 is 2.59. Without the skips it would "
        "be 0.1 to the power of 10, or 0.0000000001.",
        slips={
            0.1**10: "This is the slope without skips. Differentiate x + f(x).",
            2: "You added the slopes of the ten functions f to 1. In a chain, the slopes of the layers multiply.",
            1.1: "This is the slope of one layer. There are ten in a chain.",
            2.6: "Right to one decimal place, but the question asks for two.",
            11: "You added ten slopes of 1.1. The slopes of a chain of functions multiply.",
        },
        pointer="Differentiate x + f(x) for one layer; then multiply, by the chain rule.",
        tolerance=0.006,
    ),
    OneOf(
        "7.5",
        "The line in the paper",
        "f is attention or feed-forward, norm is layer norm, x is the residual stream. Which line does "
        "what the 2017 paper describes?",
        (
            wrong(
                "x = x + f(norm(x))",
                "This is pre-norm, which most later models use because deep stacks train more "
                "easily with it. It is not in the paper, though it is often shown as if it were.",
            ),
            right(
                "x = norm(x + f(x))",
                "This is post-norm: the sum is normalised, so every path through the stack passes through "
                "norms, and there is no identity path. In PyTorch it is norm_first=False, the default.",
            ),
            wrong(
                "x = x + norm(f(x))",
                "This normalises what the part adds. Some later models do it, but neither the paper nor "
                "PyTorch's layers do.",
            ),
            wrong(
                "x = norm(x) + f(norm(x))",
                "Here the skip, too, carries the normalised stream. In the paper's line it carries x itself.",
            ),
        ),
    ),
    SeveralOf(
        "7.6",
        "What mixes the tokens",
        "You change one token of an encoder layer's input. Which components, each taken on its own, pass the "
        "change on to other tokens?",
        (
            wrong(
                "The feed-forward layer",
                "It is applied to each token on its own, with the same weights. No token influences another.",
            ),
            right(
                "The self-attention",
                "Each output is computed from weighted averages of all tokens' values. This is the only part of the "
                "layer in which one token influences another.",
            ),
            wrong(
                "The layer norm",
                "Its mean and its variance are taken over the features of one token, not over the tokens.",
            ),
            wrong(
                "The skip connection",
                "It adds each token to the part's output at the same position; no other token is involved.",
            ),
        ),
    ),
    Shape(
        "7.7",
        "The shape of the cross-attention weights",
        "The batch size is 2, and there are 4 heads. The source has 9 tokens and the target has 6. What is "
        "the shape of the decoder's cross-attention weights?",
        right=(2, 4, 6, 9),
        why="The queries come from the target, which has 6 tokens, and the keys come from the source, which has 9.",
        slips={
            (2, 4, 9, 6): "The two lengths are swapped. Do the queries come from the source or from the target?",
            (2, 4, 6, 6): "This is the decoder's self-attention, among the target's own tokens.",
            (2, 4, 9, 9): "This is the encoder's self-attention, among the source's tokens.",
            (2, 6, 9): "This is the shape for a single head, or for the average of all heads.",
        },
        pointer="The order is batch, heads, queries, keys.",
    ),
    Number(
        "7.8",
        "The parameters of an encoder layer",
        "An encoder layer consists of attention (1,050,624 parameters), a feed-forward layer (2,099,712) and "
        "layer norms over 512 features. How many parameters are there in all?",
        right=ENCODER_LAYER,
        why="There are two layer norms, each with 512 gains and 512 biases. Together they add 2,048 "
        "parameters, which makes 3,152,384 in all. Two thirds of the parameters are in the feed-forward layer.",
        slips={
            ATTENTION + FEED_FORWARD: "The layer norms are missing: each has a gain and a bias for every feature.",
            ATTENTION + FEED_FORWARD + LAYER_NORM: "You counted only one layer norm, or two without their biases.",
            ATTENTION
            + FEED_FORWARD
            + 512: "A layer norm has a gain and a bias for each feature. How many norms are there?",
        },
        pointer="Count the layer norms in the diagram of the layer, and the parameters of each.",
    ),
    OneOf(
        "7.9",
        "How feed-forward weights are shared",
        "Each block of the paper's Transformer has a feed-forward layer. Which positions and blocks "
        "share one set of weights?",
        (
            wrong(
                "None: each position in each block has its own.",
                "With weights for every position, a sentence longer than any in training would need "
                "weights that do not exist. Look at the shape of linear_in's weight: is the length in it?",
            ),
            wrong(
                "All: one set of weights serves every position in every block.",
                "This is possible, and some models do it. The paper's Transformer gives each block its "
                "own weights, so blocks can learn to do different jobs.",
            ),
            right(
                "All positions in a block, but each block has its own.",
                "Within a block every token is treated alike, so any length will do. Each block reads what "
                "the earlier ones have added, and because it has its own weights, it can do a different job.",
            ),
            wrong(
                "All blocks, but each position has its own.",
                "It is the other way round: each block has its own weights, and uses them at every position.",
            ),
        ),
    ),
    Number(
        "7.10",
        "One feed-forward layer for all blocks",
        "A model has six blocks with feed-forward layers of 2,099,712 parameters each. All six are "
        "replaced with one that the blocks share. How many parameters are saved?",
        right=5 * FEED_FORWARD,
        why="5 × 2,099,712 = 10,498,560. That is more than half of the parameters in the paper's six encoder "
        "blocks. All the shapes still fit, and the next cells show what a model with one shared layer can learn.",
        slips={
            6 * FEED_FORWARD: "You counted all six layers as saved, but one of them remains.",
            FEED_FORWARD: "This is a single layer, the one that remains.",
        },
        pointer="How many feed-forward layers are there before, and how many after?",
    ),
    OneOf(
        "7.11",
        "Equal weights and no skip",
        "A layer's attention gives all tokens equal weights, and has no skip around it. What do the "
        "layers that follow receive?",
        (
            right(
                "The same vector at every position",
                "Each position gets the same average, and whatever comes after treats identical "
                "vectors alike. A skip would keep each token alongside that average.",
            ),
            wrong(
                "Tokens that the feed-forward layer has made different again",
                "The feed-forward layer has the same weights at every position, so from identical vectors "
                "it makes identical vectors.",
            ),
            wrong(
                "Tokens that are kept apart by their positional encodings",
                "The encodings were added to the tokens, so they went into the average with them.",
            ),
            wrong(
                "The original tokens, their lengths restored by layer norm",
                "Layer norm looks at one vector at a time. It cannot bring back what none of the vectors "
                "contains any longer.",
            ),
        ),
    ),
    OneOf(
        "7.12",
        "Thirty-two attention layers without a skip",
        "Sixteen random tokens go through 32 self-attention layers with random weights, without skips or "
        "feed-forward layers. What becomes of the tokens?",
        (
            wrong(
                "They grow apart until they are orthogonal.",
                "Every output is computed from averages of the same values, and such averages are closer together "
                "than the values themselves.",
            ),
            wrong(
                "They stay about as different as they were.",
                "Each layer averages the averages of the one before, so in the end the differences vanish. "
                "With PyTorch's initial weights, almost nothing is left of them after two layers.",
            ),
            right(
                "They become almost identical.",
                "Layer by layer they become more alike, and after 32 layers the sixteen tokens are almost "
                "identical. With skips, each layer adds to the tokens instead of replacing them.",
            ),
            wrong(
                "One token takes over, and the others become zero.",
                "An average of vectors is zero only if they cancel. A token that is outweighed becomes "
                "similar to the others, not zero.",
            ),
        ),
    ),
    FreeText(
        "7.13",
        "The feed-forward layers of the blocks",
        "Do the feed-forward layers (two dense layers each) differ from block to block, and if so, why? Why are "
        "they the same at every position?",
        model="Yes, they differ: each block has its own layer, and uses it at every position. Each block reads "
        "what the earlier blocks have written, and with weights of its own it can do a different job. Positions "
        "share weights because what happens to a token should depend only on its vector, which here encodes the "
        "position. That is also why any length will do. The blocks could share one layer, too, because all "
        "the shapes match. In the paper's six encoder blocks, this would save more than half of the parameters "
        "(5/6 of two thirds), but some things would be harder to learn.",
        points=(
            "They differ from block to block, but are the same at every position.",
            "Blocks receive different inputs. Positions can share weights: the vectors encode the position.",
            "Layers can be shared, too. That takes fewer parameters, but makes some things harder to learn.",
        ),
    ),
    FreeText(
        "7.14",
        "Why so many skip connections",
        "Why are there so many skip connections, especially around attention, and what would happen without them?",
        model="With x + f(x), the slope of each layer is 1 plus that of f, so a gradient gets past f, however "
        "little f passes on. Ten parts of slope 0.1 have slope 0.0000000001 without skips, and 2.59 with them. "
        "In pre-norm, the skips form an identity path through the stack; in post-norm, a "
        "norm follows every sum on that path. Skips matter most around attention, which replaces each token "
        "with an average: only the skip is sure to keep the token itself. Without skips, tokens become more "
        "alike layer by layer; with equal attention weights, they are identical at once.",
        points=(
            "Gradients: x + f(x) has slope 1 plus that of f.",
            "Identity: the token itself is lost in an average; the skip keeps it.",
            "Without them a deep stack collapses towards one vector for all tokens.",
        ),
    ),
)
