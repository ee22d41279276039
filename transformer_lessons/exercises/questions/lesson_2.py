"""Questions of lesson 2: queries, keys and values, in the order in which they are met."""

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
    Number(
        "2.1",
        "A look-up that blends",
        "A table stores the value 10 under the key (1, 0) and the value 30 under the key (0, 1). What does a "
        "soft look-up return for the query (1, 1)?",
        right=20,
        why="Both scores are 1, so both weights are 1/2, and half of 10 plus half of 30 is 20. A dictionary "
        "returns one entry, whereas attention returns a blend of all the values.",
        slips={
            10: "The first key does not win, because the other one has the same score. Every value goes "
            "into the average.",
            30: "The second key does not win, because the other one has the same score. Both values go into "
            "the average.",
            40: "Both scores are 1, but the weights are smaller: softmax makes them sum to 1.",
            0: "A dictionary would find nothing, because neither key equals the query. But attention needs no "
            "exact match.",
        },
        pointer="Compute the two scores, turn them into weights, then average the values.",
        tolerance=0.01,
    ),
    OneOf(
        "2.2",
        "The query multiplied by 100",
        "A table stores 10 under (1, 0) and 30 under (0, 1). A soft look-up with the query (1, 0.9) "
        "returns a blend. What does it return if we multiply the query by 100?",
        (
            wrong(
                "About the same blend as before.",
                "The scores 1 and 0.9 gave nearly equal weights, because they differ by only 0.1. But once "
                "we multiply the query by 100, they differ by 10.",
            ),
            right(
                "Almost exactly 10.",
                "The scores are 100 and 90, and the second weight is about exp(-10), or 0.00005. With such a "
                "gap between the scores, attention returns almost exactly the first value.",
            ),
            wrong(
                "About a hundred times as much as before.",
                "Only the scores are a hundred times as large. The weights still sum to 1, so the output "
                "stays between 10 and 30.",
            ),
            wrong(
                "Exactly 20.",
                "For that, the two scores, and so the two weights, would have to be equal. But multiplying the "
                "query by 100 widens the gap between the scores.",
            ),
        ),
    ),
    Shape(
        "2.3",
        "Queries from another sequence",
        "The shapes are (4, 7, 16) for query, (4, 9, 16) for key and (4, 9, 32) for value. What is the shape of "
        "the output of attention(query, key, value)?",
        right=(4, 7, 32),
        why="Each of the 7 queries gets one average of the 9 values, and each value has 32 features. The "
        "weights, which are computed on the way, have the shape (4, 7, 9).",
        slips={
            (4, 7, 9): "This is the shape of the weights: there is one weight for each query–key pair. But "
            "attention then averages the values with these weights.",
            (4, 7, 16): "The number of rows is right. But each row is an average. Do we average the queries, the "
            "keys, or something else?",
            (4, 9, 32): "This is the shape of value. Is there one output for each key, or one for each query?",
            (4, 9, 16): "This is the shape of key. The keys only determine how much each value counts.",
        },
        pointer="There is one output for each query, and it is as wide as whatever is being averaged.",
    ),
    SeveralOf(
        "2.4",
        "Sizes that must agree",
        "In softmax(QKᵀ/√d_k)V, each row of Q, K and V belongs to one token. Which of these must hold?",
        (
            wrong(
                "Keys and values are equally wide.",
                "We only average the values, and never multiply them by the keys. So we can choose their width, "
                "d_v, freely. It is also the width of the output.",
            ),
            right(
                "Queries and keys are equally wide.",
                "Each score is the dot product of a query and a key, so both need the same number of entries.",
            ),
            wrong(
                "There are as many queries as keys.",
                "In self-attention there are, because both come from the same tokens. But queries may also "
                "come from another sequence, of a different length.",
            ),
            right(
                "There are as many keys as values.",
                "Each of a query's weights belongs to one key and multiplies one value, so each key needs a value.",
            ),
        ),
    ),
    OneOf(
        "2.5",
        "Softmax over the wrong axis",
        "The tensor scores has the shape (batch, query, key). Someone takes the softmax over the queries (dim=-2) "
        "instead of over the keys. What happens?",
        (
            wrong(
                "Nothing much: the weights sum to 1 either way.",
                "With dim=-2, each column sums to 1. But each output is computed from one row of weights, so it "
                "is the rows that should sum to 1.",
            ),
            wrong(
                "An error: the shapes no longer fit.",
                "Softmax never changes a shape, so everything still runs. That makes this mistake hard to notice.",
            ),
            right(
                "The outputs are no longer averages: a query's weights may sum to 2, or to 0.1.",
                "The keys should compete for each query's weight, but now the queries compete for each key. So the "
                "columns sum to 1, but the rows need not, and the outputs can come out too large or too small.",
            ),
            wrong(
                "In self-attention, nothing: the score matrix is square.",
                "A square matrix need not be symmetric. Once queries and keys differ, the score of query i with "
                "key j need not equal that of query j with key i. And even if the scores were symmetric, you would "
                "get the transpose of the right weights.",
            ),
        ),
    ),
    OneOf(
        "2.6",
        "One matrix for queries and keys",
        "In a self-attention head, W_Q and W_K are the same matrix. What follows?",
        (
            wrong(
                "The weights are symmetric.",
                "To compute the weights, softmax divides the exponentials in each row by their sum, and these sums "
                "usually differ from row to row.",
            ),
            wrong(
                "Each token gives itself the largest weight.",
                "A token's score with itself is then the squared length of its query. A longer key in a "
                "similar direction can still score higher.",
            ),
            wrong(
                "Nothing is lost: one matrix can give any scores that two can.",
                "With two matrices, W_Q W_Kᵀ can be any matrix of rank at most d_k. With one matrix, it is W Wᵀ, "
                "which is always symmetric.",
            ),
            right(
                "The score of query i with key j always equals that of query j with key i.",
                "A verb's score with its object would then always equal the object's score with the verb. With two "
                "matrices, these scores can differ.",
            ),
        ),
    ),
    OneOf(
        "2.7",
        "Keys wider than the model",
        "d_model is 8. A head makes queries and keys with d_k = 20 features, and values with d_v = 3. What happens?",
        (
            right(
                "It runs, but d_k = 8 could give the same scores.",
                "The scores are x W_Q W_Kᵀ xᵀ, and W_Q W_Kᵀ is 8 × 8, whatever d_k is. Even with d_k = 8, this "
                "product can be any 8 × 8 matrix. So a larger d_k adds parameters, but it gives no new scores.",
            ),
            wrong(
                "An error: d_k cannot be larger than d_model.",
                "It can: W_Q and W_K are then 8 × 20 matrices. The dot product only needs queries and keys to be "
                "equally wide, and they are.",
            ),
            wrong(
                "It runs, and the output is 20 wide.",
                "The output is an average of values, so it is as wide as they are: 3 features.",
            ),
            wrong(
                "It runs, and can give scores that are out of reach for d_k = 8.",
                "What matters is the product W_Q W_Kᵀ. Work out its shape. Which matrices of that shape "
                "can you get with d_k = 8?",
            ),
        ),
    ),
    SeveralOf(
        "2.8",
        "Other scoring functions",
        "Queries q have 4 entries, and keys k have 6. Which of these can score every query against every key? "
        "Below, tanh squeezes each entry into the range from -1 to 1.",
        (
            wrong(
                "The dot product q · k.",
                "The dot product multiplies two vectors entry by entry, so both need the same number of entries.",
            ),
            right(
                "q W kᵀ, with q and k as rows and a learned 4 × 6 matrix W.",
                "This is the bilinear score. A head scores its input vectors in this way, with "
                "W = W_Q W_Kᵀ, whose rank is at most the width of the head.",
            ),
            wrong(
                "The cosine of the angle between q and k.",
                "The cosine is the dot product divided by both lengths, so it has the same requirement as the "
                "dot product.",
            ),
            right(
                "v · tanh(A q + B k), with q and k as columns and learned A (7 × 4), B (7 × 6) and v (7 entries).",
                "This is the additive score, which is older than the Transformer. A q and B k have the "
                "same width, so they can be added.",
            ),
            wrong(
                "The negative squared distance, -|q - k|².",
                "This score needs the difference q - k, and you cannot subtract vectors of different widths.",
            ),
        ),
    ),
    FreeText(
        "2.9",
        "The dimensions of Q, K and V",
        "What are the dimensions of Q, K and V in softmax(QKᵀ/√d_k)V, which of them must agree, and why are "
        "there three roles?",
        model="With n queries and m keys, Q is n × d_k, K is m × d_k and V is m × d_v. Scores are dot products, "
        "so Q and K have the same width. Each key has one value, so K and V have the same number of rows. "
        "Softmax runs along each row of QKᵀ, so that the m weights of a query sum to 1, and the output is "
        "n × d_v. Because Q and K have separate maps, what a token looks for can differ from how it is found. "
        "Because V has a third map, what the token hands over can differ from both.",
        points=(
            "n and m may differ, and so may d_k and d_v; d_k may even exceed d_model.",
            "In self-attention, a single map for Q and K would make the scores symmetric.",
            "Softmax runs over the keys, separately for each query.",
        ),
    ),
    FreeText(
        "2.10",
        "Alternatives to QKᵀ",
        "What could replace QKᵀ and still give attention weights? Why do Transformers use the dot product?",
        model="Softmax turns any numbers into weights, so any score for a query and a key will do: a bilinear "
        "form q W kᵀ, a small network v · tanh(A q + B k), the cosine, or the negative squared distance. The "
        "entrywise product Q * K will not do: it pairs each query with only one key. Nor will QᵀK, which compares "
        "features. One matrix product gives all dot products; the network needs a tanh for each hidden unit of "
        "each pair. With learned maps, the dot product can be any bilinear form of rank at most d_k. "
        "Unscaled cosines are too even: none of ten keys can get half the weight.",
        points=(
            "One number for every query–key pair is all that softmax needs.",
            "Examples: additive, bilinear, cosine, distance.",
            "The dot product is fast, has no parameters of its own, and allows any gap between scores.",
        ),
    ),
)
