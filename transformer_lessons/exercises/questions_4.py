"""Questions of lesson 4: multi-head attention, in the order in which they are met."""

from math import sqrt

from transformer_lessons.exercises.asking import FreeText, Number, OneOf, SeveralOf, Shape, right, wrong

QUESTIONS = (
    SeveralOf(
        "4.1",
        "What one head cannot tell apart",
        "One head gives two tokens the weight 1/2 each, and their values are 2 and 6. With the weights as "
        "they are, which other values give the same output?",
        (
            right(
                "6 and 2",
                "The average is 4 again: it forgets which token said what. Two heads, one on each token, "
                "would keep 2 and 6 apart.",
            ),
            wrong(
                "3 and 9",
                "Their average is 6: whoever makes both values larger makes the average larger.",
            ),
            right(
                "4 and 4",
                "Their average is 4 too, so one head cannot even tell that the two values differ.",
            ),
            wrong("2 and 8", "One value is as before and the other is larger, and so is the average: 5."),
        ),
    ),
    Number(
        "4.2",
        "The scale in a head",
        "d_model is 512, there are 8 heads and 60 tokens. By what does each head divide its scores?",
        right=8,
        why="A head is 512 / 8 = 64 wide, and √64 = 8. The dot products run over the features of one head, "
        "so d_head sets the scale.",
        slips={
            sqrt(512): "This is √d_model. A head's dot products run over fewer features than that.",
            64: "This is d_head, the number of features in a head. The scale is its root.",
            sqrt(60): "This is the root of the length. A score compares two tokens, however many others "
            "there are.",
        },
        pointer="Over how many features does a dot product run inside one head?",
        tolerance=0.05,
    ),
    OneOf(
        "4.3",
        "Splitting heads by view alone",
        "x = torch.arange(8).view(1, 2, 4) holds the tokens [0, 1, 2, 3] and [4, 5, 6, 7]. What is head 0 "
        "of x.view(1, 2, 2, 2), if this is read as (batch, heads, length, d_head)?",
        (
            right(
                "[[0, 1], [2, 3]]",
                "view keeps the order of the memory: head 0 gets all of the first token, cut in two and "
                "taken for two tokens. Split the features first, then transpose.",
            ),
            wrong(
                "[[0, 1], [4, 5]]",
                "This is what a head should get: the first features of every token. To get it, view as "
                "(batch, length, heads, d_head), then transpose.",
            ),
            wrong(
                "[[0, 2], [4, 6]]",
                "To take every second entry, view would have to skip some. It only regroups.",
            ),
            wrong("An error", "Eight entries fit into 1 × 2 × 2 × 2, and view asks for nothing more."),
        ),
    ),
    OneOf(
        "4.4",
        "Merging heads without the transpose",
        "heads is (batch, heads, length, d_head), here (1, 2, 4, 3). Somebody merges the heads with "
        "heads.reshape(1, 4, 6), without a transpose. What is in row 0?",
        (
            wrong(
                "The outputs of both heads for token 0",
                "This is what a row should hold. For it, head and length have to change places before the "
                "reshape.",
            ),
            wrong(
                "The average of both heads for token 0",
                "A reshape moves no numbers and computes nothing, so no average can come of it.",
            ),
            right(
                "Head 0's outputs for tokens 0 and 1",
                "Nothing raises an error and gradients flow, so such a model trains. But row 0 now "
                "holds head 0's output for token 1 in head 1's place, and nothing from head 1 at all.",
            ),
            wrong(
                "Head 0's output for token 0, twice",
                "A reshape uses every number once, and nothing twice.",
            ),
        ),
    ),
    Shape(
        "4.5",
        "The weights of eight heads",
        "Eight heads run over one sequence (a batch of 1) of 60 tokens with 512 features. Which shape do "
        "the weights of all heads have?",
        right=(1, 8, 60, 60),
        why="(batch, heads, query, key): every head has a table of 60 × 60 of its own. The 512 features "
        "are shared out among the heads, 64 each, and summed away in the scores.",
        slips={
            (1, 60, 60): "This holds one table. Every head has a table of its own.",
            (8, 60, 60): "One dimension is missing: the batch comes first, even a batch of 1.",
            (1, 8, 60, 64): "This is the shape of the queries, of the keys and of the heads' outputs.",
            (1, 8, 64, 64): "This compares features with features. Attention compares tokens.",
            (1, 60, 512): "This is the shape of the input, and of the output once the heads are merged.",
        },
        pointer="In this course the order is batch, heads, those who ask, those who answer.",
    ),
    Shape(
        "4.6",
        "The weights that PyTorch returns",
        "module = nn.MultiheadAttention(512, 8, batch_first=True), and x is (1, 60, 512). Which shape do "
        "the weights have that module(x, x, x) returns?",
        right=(1, 60, 60),
        why="PyTorch averages the weights over the heads, unless you ask for average_attn_weights=False. "
        "An average can hide what each head does.",
        slips={
            (1, 8, 60, 60): "You get this with average_attn_weights=False, which is not the default.",
            (8, 60, 60): "The batch has not gone, but something else has.",
            (60, 60): "The input has a batch dimension, and the weights keep it.",
            (1, 60, 512): "This is the shape of the other thing that the module returns: its output.",
        },
        pointer="Look up average_attn_weights in the documentation of nn.MultiheadAttention.",
    ),
    Number(
        "4.7",
        "The parameters of eight heads",
        "Multi-head attention with d_model = 512 and 8 heads has four linear maps from 512 to 512, each "
        "with a bias. How many parameters does it have?",
        right=4 * (512 * 512 + 512),
        why="4 × (512 × 512 + 512) = 1,050,624. The number of heads does not appear: the heads share out "
        "the features, and more heads are narrower heads.",
        slips={
            4 * 512 * 512: "The weights are all there; the biases are missing.",
            3 * (512 * 512 + 512): "These are the maps for queries, keys and values. One map comes after "
            "the heads.",
            512 * 512 + 512: "This is one of the four maps.",
            8 * 4 * (512 * 512 + 512): "You gave every head the full width. The heads share one set of "
            "maps.",
            8 * (512 * 512 + 512): "This is one map for each head. The heads share the maps, and there are "
            "four of them.",
        },
        pointer="A linear map from n to m has n × m weights and m biases.",
    ),
    OneOf(
        "4.8",
        "Twice as many heads",
        "Multi-head attention with d_model = 512 goes from 8 heads to 16. What becomes twice as large?",
        (
            wrong(
                "The number of parameters",
                "The four maps stay at 512 × 512. More heads cut their outputs into more parts, and that "
                "is all.",
            ),
            wrong(
                "The number of multiplications in the scores",
                "There are twice as many dot products, but each has half as many terms.",
            ),
            wrong(
                "The width of a head",
                "All heads together have 512 features. With more heads, each gets fewer.",
            ),
            right(
                "The table of attention weights",
                "There are 16 tables now, one for each head. Parameters and multiplications stay: twice as "
                "many heads, each half as wide.",
            ),
        ),
    ),
    FreeText(
        "4.9",
        "Why several heads",
        "Parameters and multiplications do not depend on the number of heads. Why, then, several narrow "
        "heads rather than one wide one?",
        model="One head gives a query one set of weights, and so one average; different tokens can have "
        "the same average, and then nothing after it can tell them apart. Several heads give a query "
        "several sets of weights, and keep their averages apart, side by side: one can follow the subject, "
        "another the verb. linear_out then mixes the reports. The price is that each head compares only "
        "d_head features: its W_Q W_Kᵀ has at most the rank d_head, so it scores more coarsely than one "
        "wide head could.",
        points=(
            "One head is one average for each query.",
            "The heads' outputs stand side by side, and linear_out mixes them.",
            "The price is lower rank, not more parameters or multiplications.",
        ),
    ),
)
