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
        "A head gives two tokens a weight of 1/2 each. Their values are 2 and 6. If the weights stay the same, "
        "which other pairs of values give the same output?",
        (
            right(
                "6 and 2",
                "The average is 4 again, so it does not show which value came from which token. Two heads could keep "
                "2 and 6 apart, if one attended to the first token and the other to the second.",
            ),
            wrong(
                "3 and 9",
                "Both values are larger, so the average is also larger: it is 6.",
            ),
            right(
                "4 and 4",
                "The average is 4 again. One head cannot even show whether the two values differ.",
            ),
            wrong("2 and 8", "One value is the same and the other is larger, so the average is larger: it is 5."),
        ),
    ),
    Number(
        "4.2",
        "The scale in a head",
        "A model has d_model = 1024 and 4 heads, and it reads 60 tokens. What does each head divide its scores by?",
        right=16,
        why="Each head has 1024 / 4 = 256 features. A dot product in a head runs over these 256 features, so the "
        "scale is √d_head = √256 = 16.",
        slips={
            32: "This is √d_model. A head's dot products run over fewer than d_model features.",
            256: "This is d_head, the number of features in a head. The scale is its square root.",
            sqrt(60): "This is the square root of the length. But a score compares just two tokens, "
            "however many tokens there are.",
        },
        pointer="How many terms does the dot product of a head's query and key have?",
        tolerance=0.05,
    ),
    OneOf(
        "4.3",
        "Splitting heads with view alone",
        "x = torch.arange(8).view(1, 2, 4) holds two tokens, [0, 1, 2, 3] and [4, 5, 6, 7]. If you read the "
        "shape of x.view(1, 2, 2, 2) as (batch, heads, length, d_head), what is head 0?",
        (
            right(
                "[[0, 1], [2, 3]]",
                "view does not change the order of the numbers in memory. So head 0 gets all of the first token, cut "
                "in two as if it were two tokens. The fix is to split the features first, and then to transpose.",
            ),
            wrong(
                "[[0, 1], [4, 5]]",
                "This is what head 0 should get: the first two features of every token. But a single view cannot do "
                "that.",
            ),
            wrong(
                "[[0, 2], [4, 6]]",
                "To take every second number, view would have to skip the others. It can only group neighbours.",
            ),
            wrong(
                "An error",
                "There is no error. Eight numbers fit into 1 × 2 × 2 × 2, and that is all view needs here.",
            ),
        ),
    ),
    OneOf(
        "4.4",
        "Merging heads without the transpose",
        "A tensor called heads has the shape (batch, heads, length, d_head) = (1, 2, 4, 3). You merge the heads "
        "with heads.reshape(1, 4, 6), without a transpose. What is in row 0 of the result?",
        (
            wrong(
                "The outputs of both heads for token 0",
                "This is what row 0 should hold. To get it, swap heads and length before you reshape.",
            ),
            wrong(
                "The average of the two heads' outputs for token 0",
                "A reshape cannot average, because it does not compute anything. It only regroups the numbers.",
            ),
            right(
                "Head 0's outputs for tokens 0 and 1",
                "There is no error, and gradients flow, so you can even train a model with this bug. But the second "
                "half of row 0 holds head 0's output for token 1, where head 1's output for token 0 should be.",
            ),
            wrong(
                "Head 0's output for token 0, twice",
                "A reshape uses every number exactly once, so nothing can appear twice.",
            ),
        ),
    ),
    Shape(
        "4.5",
        "The weights of eight heads",
        "Eight heads run self-attention on one sequence (a batch of 1) of 60 tokens with 512 features each. What "
        "is the shape of the tensor that holds the weights of all the heads?",
        right=(1, 8, 60, 60),
        why="The shape is (batch, heads, query, key), because every head has a 60 × 60 table of weights. The "
        "512 features do not appear. Each head gets 64 of them, and each of its scores is a dot product over these 64.",
        slips={
            (1, 60, 60): "This is a single table, but every head has a table of its own.",
            (8, 60, 60): "One dimension is missing. The batch comes first, even when it holds only one sequence.",
            (1, 8, 60, 64): "This is the shape of the queries, keys and values after the split, and of "
            "the heads' outputs.",
            (1, 8, 64, 64): "This would compare features with features, but attention compares tokens with tokens.",
            (1, 60, 512): "This is the shape of the input, and of the output after merging the heads.",
        },
        pointer="In this course, the order of the dimensions is batch, heads, queries, keys.",
    ),
    Shape(
        "4.6",
        "The weights that PyTorch returns",
        "module = nn.MultiheadAttention(512, 8, batch_first=True), and x has the shape (1, 60, 512). What is the "
        "shape of the weights that module(x, x, x) returns?",
        right=(1, 60, 60),
        why="PyTorch averages the weights over the heads, unless you pass average_attn_weights=False. "
        "The average can hide what each head does.",
        slips={
            (1, 8, 60, 60): "You get this shape if you pass average_attn_weights=False, which is not the default.",
            (8, 60, 60): "PyTorch keeps the batch dimension and averages over another one.",
            (60, 60): "The input has a batch dimension, and so do the weights.",
            (1, 60, 512): "This is the shape of the output, which is the other tensor that the module returns.",
        },
        pointer="Look up average_attn_weights in the documentation of nn.MultiheadAttention.",
    ),
    Number(
        "4.7",
        "The parameters of eight heads",
        "Multi-head attention with d_model = 512 and 8 heads has four linear maps from 512 to 512, each "
        "with a bias. How many parameters does it have?",
        right=4 * (512 * 512 + 512),
        why="4 × (512 × 512 + 512) = 1,050,624. The number of heads does not appear here, because the "
        "features are divided among the heads. With more heads, each head is narrower.",
        slips={
            4 * 512 * 512: "You have counted all the weights, but not the biases.",
            3 * (512 * 512 + 512): "You have counted the projections of the queries, keys and values. There is one "
            "more map, the output projection, which comes after the heads.",
            512 * 512 + 512: "You have counted just one of the four maps.",
            8 * 4 * (512 * 512 + 512): "You have given every head four maps of the full width. In fact there are "
            "only four maps, and each head gets a slice of each map.",
            8 * (512 * 512 + 512): "You have counted one map for each head. But there are four maps, however "
            "many heads there are.",
        },
        pointer="A linear map from n to m has n × m weights and m biases.",
    ),
    OneOf(
        "4.8",
        "Twice as many heads",
        "In multi-head attention with d_model = 512, you go from 8 heads to 16. What doubles?",
        (
            wrong(
                "The number of parameters",
                "The four maps are still 512 × 512. With more heads, the same 512 features are just cut into more "
                "parts.",
            ),
            wrong(
                "The number of multiplications in the scores",
                "There are twice as many dot products, but each has half as many terms.",
            ),
            wrong(
                "The width of a head",
                "The 512 features are divided among the heads, so the more heads there are, the fewer features "
                "each one gets.",
            ),
            right(
                "The number of attention weights",
                "There are now 16 tables of weights instead of 8, one for each head. The number of parameters and the "
                "work in the matrix products do not change: there are twice as many heads, but each is half as "
                "wide.",
            ),
        ),
    ),
    FreeText(
        "4.9",
        "Why several heads",
        "The number of heads changes neither the number of parameters nor the work in the matrix products. "
        "So why use several narrow heads rather than one wide one?",
        model="One head gives a query one set of weights, and therefore one average. All the values come from one "
        "linear map, so the numbers that two tokens hold in the same feature are blended into one. With several "
        "heads, the query gets several averages, each with weights and features of its own. Suppose that these "
        "averages blend two numbers in proportions that differ from head to head, but are the same for every query. "
        "Then linear_out can separate them again. The price is that each head compares vectors using only d_head "
        "features, so its W_Q W_Kᵀ has rank at most d_head.",
        points=(
            "One head gives one average for each query.",
            "The heads' averages are kept side by side, and linear_out combines them.",
            "The price is a lower rank, not more parameters or more work in the matrix products.",
        ),
    ),
)
