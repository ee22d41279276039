"""Questions of lesson 4: multi-head attention, in the order in which they are met."""

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

QUESTIONS = (
    SeveralOf(
        "4.1",
        "What one head cannot tell apart",
        "One head gives two tokens a weight of 1/2 each, and their values are 2 and 6. With the same weights, "
        "which other pairs of values give the same output?",
        (
            right(
                "6 and 2",
                "The average is 4 again: it does not show which value came from which token. Two heads, "
                "one for each token, would keep 2 and 6 apart.",
            ),
            wrong(
                "3 and 9",
                "Their average is 6. If both values get larger, so does the average.",
            ),
            right(
                "4 and 4",
                "Their average is 4, too. One head cannot even show that the two values differ.",
            ),
            wrong("2 and 8", "One value is the same and the other is larger, so the average is larger: 5."),
        ),
    ),
    Number(
        "4.2",
        "The scale in a head",
        "d_model is 1024, there are 4 heads and 60 tokens. What does each head divide its scores by?",
        right=16,
        why="A head has 1024 / 4 = 256 features, and √256 = 16. Its dot products run over the features of one "
        "head, so d_head sets the scale.",
        slips={
            32: "This is √d_model. A head's dot products run over fewer than d_model features.",
            256: "This is d_head, the number of features in a head. The scale is its square root.",
            sqrt(60): "This is the square root of the length. A score compares two tokens, however many "
            "others there are.",
        },
        pointer="How many features does a dot product inside one head add up?",
        tolerance=0.05,
    ),
    OneOf(
        "4.3",
        "Splitting heads with view alone",
        "x = torch.arange(8).view(1, 2, 4) holds the tokens [0, 1, 2, 3] and [4, 5, 6, 7]. What is head 0 "
        "of x.view(1, 2, 2, 2), if this is read as (batch, heads, length, d_head)?",
        (
            right(
                "[[0, 1], [2, 3]]",
                "view keeps the order in memory, so head 0 gets all of the first token, cut in two as if it "
                "were two tokens. Split the features first, then transpose.",
            ),
            wrong(
                "[[0, 1], [4, 5]]",
                "This is what head 0 should get: the first features of every token. A single view cannot "
                "do that.",
            ),
            wrong(
                "[[0, 2], [4, 6]]",
                "To take every second entry, view would have to skip some. It only groups neighbours.",
            ),
            wrong("An error", "Eight entries fit into 1 × 2 × 2 × 2, and that is all view needs here."),
        ),
    ),
    OneOf(
        "4.4",
        "Merging heads without the transpose",
        "heads has the shape (batch, heads, length, d_head), here (1, 2, 4, 3). Someone merges the heads with "
        "heads.reshape(1, 4, 6), without a transpose. What is in row 0 of the result?",
        (
            wrong(
                "The outputs of both heads for token 0",
                "This is what a row should hold. To get it, swap heads and length before you reshape.",
            ),
            wrong(
                "The average of both heads for token 0",
                "A reshape computes nothing. It only groups the numbers it has, so it cannot average.",
            ),
            right(
                "Head 0's outputs for tokens 0 and 1",
                "There is no error and gradients flow, so such a model trains. But where row 0 should "
                "hold head 1's output for token 0, it holds head 0's output for token 1.",
            ),
            wrong(
                "Head 0's output for token 0, twice",
                "A reshape uses every number exactly once.",
            ),
        ),
    ),
    Shape(
        "4.5",
        "The weights of eight heads",
        "Eight heads run over one sequence (a batch of 1) of 60 tokens with 512 features. What is "
        "the shape of the weights of all the heads together?",
        right=(1, 8, 60, 60),
        why="(batch, heads, query, key): every head has its own 60 × 60 table. The 512 features are "
        "split among the heads, and each score sums over the 64 features of its head.",
        slips={
            (1, 60, 60): "This is a single table. Every head has one of its own.",
            (8, 60, 60): "One dimension is missing. The batch comes first, even if it is a batch of 1.",
            (1, 8, 60, 64): "This is the shape of the queries, of the keys and of the heads' outputs.",
            (1, 8, 64, 64): "This compares features with features. Attention compares tokens.",
            (1, 60, 512): "This is the shape of the input, and of the output after merging the heads.",
        },
        pointer="In this course the order is batch, heads, queries, keys.",
    ),
    Shape(
        "4.6",
        "The weights that PyTorch returns",
        "module = nn.MultiheadAttention(512, 8, batch_first=True), and x is (1, 60, 512). What is the "
        "shape of the weights that module(x, x, x) returns?",
        right=(1, 60, 60),
        why="PyTorch averages the weights over the heads, unless you ask for average_attn_weights=False. "
        "The average can hide what each head does.",
        slips={
            (1, 8, 60, 60): "You get this with average_attn_weights=False, which is not the default.",
            (8, 60, 60): "PyTorch keeps the batch dimension and drops another one.",
            (60, 60): "The input has a batch dimension, and so do the weights.",
            (1, 60, 512): "This is the shape of the other result, the output.",
        },
        pointer="Look up average_attn_weights in the documentation of nn.MultiheadAttention.",
    ),
    Number(
        "4.7",
        "The parameters of eight heads",
        "Multi-head attention with d_model = 512 and 8 heads has four linear maps from 512 to 512, each "
        "with a bias. How many parameters does it have?",
        right=4 * (512 * 512 + 512),
        why="4 × (512 × 512 + 512) = 1,050,624. The number of heads does not appear: the features are split "
        "among the heads, so with more heads, each is narrower.",
        slips={
            4 * 512 * 512: "This counts all the weights, but not the biases.",
            3 * (512 * 512 + 512): "These are the maps for queries, keys and values. There is one more map "
            "after the heads.",
            512 * 512 + 512: "This is one of the four maps.",
            8 * 4 * (512 * 512 + 512): "This gives every head maps of the full width. Each head has only a "
            "slice of one set of maps.",
            8 * (512 * 512 + 512): "This is one map for each head. There are four maps, whatever the number "
            "of heads.",
        },
        pointer="A linear map from n to m has n × m weights and m biases.",
    ),
    OneOf(
        "4.8",
        "Twice as many heads",
        "Multi-head attention with d_model = 512 goes from 8 heads to 16. What doubles?",
        (
            wrong(
                "The number of parameters",
                "The four maps stay at 512 × 512. More heads only cut the same 512 features into more "
                "parts.",
            ),
            wrong(
                "The number of multiplications in the scores",
                "There are twice as many dot products, but each has half as many terms.",
            ),
            wrong(
                "The width of a head",
                "All heads together have 512 features. The more heads, the fewer each one gets.",
            ),
            right(
                "The number of attention weights",
                "There are 16 tables now, one for each head. The parameters and the work in the matrix products "
                "stay the same: twice as many heads, each half as wide.",
            ),
        ),
    ),
    FreeText(
        "4.9",
        "Why several heads",
        "Neither the parameters nor the multiplications in the matrix products depend on the number of "
        "heads. So why use several narrow heads rather than one wide one?",
        model="One head gives a query one set of weights, and so one average. All values go through the same "
        "map, so what is stored in the same feature of two tokens ends up as one sum. Several heads give "
        "several averages, each with weights of its own and in features of its own; if they blend "
        "in different proportions, linear_out can take the blends apart and combine them. The price is that each "
        "head compares vectors on only d_head features: its W_Q W_Kᵀ has rank at most d_head.",
        points=(
            "One head gives one average for each query.",
            "The heads' averages are kept side by side, and linear_out combines them.",
            "The price is a lower rank, not more parameters or more work in the matrix products.",
        ),
    ),
)
