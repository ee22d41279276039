"""Questions of lesson 2: queries, keys and values, in the order in which they are met."""

from transformer_lessons.exercises.asking import FreeText, Number, OneOf, SeveralOf, Shape, right, wrong

QUESTIONS = (
    Number(
        "2.1",
        "A look-up that blends",
        "A table holds the value 10 under the key (1, 0) and the value 30 under the key (0, 1). What does "
        "attention return for the query (1, 1)?",
        right=20,
        why="Both scores are 1, so both weights are 1/2: half of 10 and half of 30. A dictionary returns "
        "one entry; attention returns a blend of all.",
        slips={
            10: "The first entry does not win: the other key scores just as much, and every key has its "
            "say.",
            30: "The last entry does not win: the other key scores just as much, and every key has its say.",
            40: "The scores are 1 and 1, but the weights are not: softmax makes them sum to 1.",
            0: "A dictionary would find nothing, for neither key equals the query. Attention needs no "
            "exact match.",
        },
        pointer="Compute the two scores, make weights of them, then average the values.",
        tolerance=0.01,
    ),
    OneOf(
        "2.2",
        "A hundred times the query",
        "A table holds 10 under the key (1, 0) and 30 under (0, 1), and the query (1, 0.9) returns a "
        "blend. What does attention, without a scale, return for a hundred times this query?",
        (
            wrong(
                "About the same blend as before.",
                "The scores 1 and 0.9 gave nearly equal weights, because they differ by 0.1. A hundred "
                "times the query makes it 10.",
            ),
            right(
                "Almost exactly 10.",
                "The scores are 100 and 90, and the second weight is about exp(-10), or 0.00005. With "
                "large scores attention becomes an ordinary look-up.",
            ),
            wrong(
                "About a hundred times as much as before.",
                "Only the scores are a hundred times as large. The weights still sum to 1, and so the "
                "output stays between 10 and 30.",
            ),
            wrong(
                "Exactly 20.",
                "This takes equal weights, and so equal scores. Multiplying the query widens the gap "
                "between its scores.",
            ),
        ),
    ),
    Shape(
        "2.3",
        "Queries from elsewhere",
        "query is (4, 7, 16), key is (4, 9, 16) and value is (4, 9, 32). Which shape does the output of "
        "attention(query, key, value) have?",
        right=(4, 7, 32),
        why="Each of the 7 queries gets one average of the 9 values, and a value is 32 wide. The weights "
        "in between are (4, 7, 9).",
        slips={
            (4, 7, 9): "This is the shape of the weights: one for each query and key. They have yet to "
            "average values.",
            (4, 7, 16): "The number of rows is right. Each row is an average, however, and not of queries "
            "or keys.",
            (4, 9, 32): "This is the shape of value. Who gets an output: those who answer, or those who "
            "ask?",
            (4, 9, 16): "This is the shape of key. The keys only decide how much each value counts.",
        },
        pointer="There is one output for each query, and it is as wide as whatever is being averaged.",
    ),
    SeveralOf(
        "2.4",
        "Sizes that must agree",
        "In softmax(QKᵀ/√d_k)V each row is a token. Which of these must hold?",
        (
            wrong(
                "Keys and values are equally wide.",
                "Values are averaged, never multiplied with keys. Their width d_v is free, and the output "
                "takes it over.",
            ),
            right(
                "Queries and keys are equally wide.",
                "A score is the dot product of a query and a key, which takes equally many entries on both "
                "sides.",
            ),
            wrong(
                "There are as many queries as keys.",
                "In self-attention there are, since both come from the same tokens. In cross-attention "
                "each side has a length of its own.",
            ),
            right(
                "There are as many keys as values.",
                "A weight belongs to one key and multiplies one value, so each key comes with its value.",
            ),
            wrong(
                "The width d_k of the keys is at most d_model.",
                "W_K may map d_model features to more of them as well as to fewer: the formula runs either "
                "way.",
            ),
        ),
    ),
    OneOf(
        "2.5",
        "Softmax over the wrong axis",
        "scores is (batch, query, key). Somebody takes the softmax over the queries, dim=-2, instead of "
        "over the keys. What follows?",
        (
            wrong(
                "Nothing much: the weights sum to 1 either way.",
                "They do, but down the columns. An output is made with one row of weights, so it is the "
                "row that should sum to 1.",
            ),
            wrong(
                "An error: the shapes no longer fit.",
                "Softmax never changes a shape, so everything runs. This makes the mistake hard to notice.",
            ),
            right(
                "The outputs are no longer averages: a query's weights may sum to 2, or to 0.1.",
                "The queries now compete for each key, instead of the keys for each query. The columns sum "
                "to 1, the rows to anything, and the outputs come out too large or too small.",
            ),
            wrong(
                "Nothing in self-attention, where the scores are square.",
                "Square is not symmetric: with two maps the score of i for j differs from that of j for i. "
                "Even symmetric scores would give the transpose of the right weights.",
            ),
        ),
    ),
    OneOf(
        "2.6",
        "One matrix for queries and keys",
        "In a self-attention head W_Q and W_K are the same matrix. What follows?",
        (
            wrong(
                "The weights are symmetric.",
                "Softmax comes in between: it divides each row by a sum of its own, and the sums differ.",
            ),
            wrong(
                "Each token gives itself the largest weight.",
                "A token's score for itself is then a squared length. A longer vector in a similar "
                "direction still scores higher.",
            ),
            wrong(
                "Nothing is lost: any scores can be had with one matrix as well as with two.",
                "With two matrices W_Q W_Kᵀ can be any matrix of rank at most d_k. With one it is W Wᵀ, and "
                "few matrices can be written like this.",
            ),
            right(
                "The score of i for j is always that of j for i.",
                "A verb could not look for its noun without the noun looking for the verb just as much, as "
                "far as scores go. With two matrices, asking and answering can differ.",
            ),
        ),
    ),
    OneOf(
        "2.7",
        "Keys wider than the model",
        "d_model is 8, and a head maps its input to queries and keys of d_k = 20 features. What happens?",
        (
            right(
                "It runs, but d_k = 8 could give all the same tables of unscaled scores.",
                "A score is x W_Q W_Kᵀ xᵀ, and W_Q W_Kᵀ is 8 × 8 whatever d_k is. With d_k = 8 it can be "
                "any 8 × 8 matrix, so more width adds parameters but no new scores.",
            ),
            wrong(
                "An error: d_k cannot be larger than d_model.",
                "W_Q and W_K are then 8 × 20. Queries and keys are equally wide, which is all that the "
                "product needs.",
            ),
            wrong(
                "It runs, and the output is 20 wide.",
                "The output is an average of values, so its width is set by W_V alone.",
            ),
            wrong(
                "It runs, and can give scores that are out of reach for d_k = 8.",
                "What counts is the product W_Q W_Kᵀ. Work out its shape, and which such matrices d_k = 8 "
                "can make.",
            ),
        ),
    ),
    SeveralOf(
        "2.8",
        "Other ways to score",
        "Queries q are 4 wide, keys k are 6 wide. Which of these give a score to every pair of a query and "
        "a key?",
        (
            wrong(
                "The dot product q · k.",
                "It multiplies entry by entry, and 4 entries cannot be paired with 6.",
            ),
            right(
                "q W kᵀ, with a learned 4 × 6 matrix W.",
                "This is the bilinear score. The two maps of a head are such a W too, written as W_Q W_Kᵀ.",
            ),
            wrong(
                "The cosine of the angle between q and k.",
                "The cosine is a dot product divided by both lengths, so it needs what the dot product "
                "needs.",
            ),
            right(
                "v · tanh(A q + B k), with learned A (5 × 4), B (5 × 6) and v (5 entries).",
                "This is the additive score, older than the Transformer. A and B bring both to a width of "
                "their own.",
            ),
            wrong(
                "-|q - k|², minus the squared distance.",
                "It needs q - k, and entries without a partner spoil it.",
            ),
        ),
    ),
    FreeText(
        "2.9",
        "The dimensions of Q, K and V",
        "Which dimensions do Q, K and V have in softmax(QKᵀ/√d_k)V, which of them must agree, and why is "
        "it set up in this way?",
        model="With n queries and m keys, Q is n × d_k, K is m × d_k and V is m × d_v: scores are dot "
        "products, so Q and K share their width, and each key has one value, so K and V share their number "
        "of rows. QKᵀ is n × m; softmax runs over the m keys, so each query gets weights that sum to 1; "
        "the output is n × d_v. Two maps for Q and K allow asking and answering to differ; a third for V "
        "lets a token hand over something other than what it is found by.",
        points=(
            "n and m, and also d_k and d_v, may differ; d_k may even exceed d_model.",
            "One map for Q and K would make the scores symmetric.",
            "Softmax runs over the keys, one row for each query.",
        ),
    ),
    FreeText(
        "2.10",
        "Other combinations of Q and K",
        "Which other combinations of Q and K would give weights? What speaks for the dot product?",
        model="Anything that gives each pair of a query and a key one number will do, since softmax makes "
        "weights of any numbers: a bilinear form q W kᵀ, a small network v · tanh(A q + B k), the cosine, "
        "minus the squared distance. The product entry by entry, Q * K, will not do, for it forms no "
        "pairs; nor will QᵀK, which compares features. The cosine lies between -1 and 1, so that of ten "
        "keys none can get half of the weight unless the scores are multiplied. The dot product is one "
        "matrix product for all pairs at once, and learned maps make it bilinear.",
        points=(
            "One number for every pair: that is all softmax asks for.",
            "Examples: additive, bilinear, cosine, distance.",
            "For the dot product: speed, no parameters of its own, scores of any size.",
        ),
    ),
)
