"""Questions of lesson 1: self-attention from scratch, in the order in which they are met."""

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
        "1.1",
        "A weighted average by hand",
        "The values 2, 8 and 4 have the weights 0.5, 0.25 and 0.25. What is their weighted average?",
        right=4,
        why="0.5 × 2 + 0.25 × 8 + 0.25 × 4 = 1 + 2 + 1 = 4. Every output of attention is a sum like "
        "this one, with whole vectors in place of the values 2, 8 and 4.",
        slips={
            14: "You added the values without their weights, as if each weight were 1.",
            14 / 3: "This is the plain average, which gives each of the three values a weight of one third.",
            4 / 3: "The weights already sum to 1, so there is no need to divide again. Leave out the division by 3.",
        },
        pointer="Multiply each value by its own weight, then add up the three products.",
        tolerance=0.01,
    ),
    OneOf(
        "1.2",
        "The best match for a vector",
        "The query is (1, 2). Which of these vectors has the largest dot product with it?",
        (
            wrong(
                "(1, 2)",
                "It points in exactly the same direction, and the dot product is 5. But length counts as "
                "well as direction, and another vector on the list gains more from its length than it loses "
                "through its direction.",
            ),
            wrong(
                "(2, 1)",
                "Here the dot product is 1 × 2 + 2 × 1 = 4: each vector's larger entry is multiplied by the "
                "other's smaller one. The query's dot product with itself is larger: 5.",
            ),
            right(
                "(3, 3)",
                "1 × 3 + 2 × 3 = 9, more than the 5 that the query gets with itself. The dot product "
                "rewards direction and length together, so a vector need not be its own best match.",
            ),
            wrong(
                "(-2, -4)",
                "It is long, but points in the opposite direction. Its dot product is -10, the smallest of the four.",
            ),
        ),
    ),
    Number(
        "1.3",
        "Softmax by hand",
        "Softmax turns the scores 0 and ln 3 into two weights. What is the second weight?",
        right=0.75,
        why="exp(0) = 1 and exp(ln 3) = 3, so the weights are 1/4 and 3/4. The difference between two scores "
        "determines the ratio of their weights.",
        slips={
            0.25: "This is the weight of the first score, 0.",
            3: "This is exp(ln 3). You still have to divide it by the sum of both exponentials.",
            1: "You get this if you divide the scores themselves by their sum. Softmax first takes the "
            "exponential of each.",
            0.5: "Only equal scores get equal weights, and these two differ.",
        },
        pointer="Take the exponential of each score, then divide each exponential by their sum.",
        tolerance=0.005,
    ),
    OneOf(
        "1.4",
        "A constant added to every score",
        "You add 100 to every score. What happens to the weights that softmax computes from them?",
        (
            right(
                "Nothing: they stay the same.",
                "exp(s + 100) = exp(100) × exp(s), and the common factor cancels in the division. That is "
                "why softmax can subtract the largest score first: the weights stay the same, and nothing "
                "overflows.",
            ),
            wrong(
                "They get sharper: the largest weight moves closer to 1.",
                "Multiplying the scores by a number above 1 does this, because it widens the gaps between "
                "them. Adding the same number to all of them leaves the gaps as they are.",
            ),
            wrong(
                "They get flatter: the weights move closer to each other.",
                "Scores of 1 and 2 become 101 and 102, whose ratio is indeed closer to 1. But "
                "softmax depends on the differences between scores, not on their ratios.",
            ),
            wrong(
                "They no longer sum to 1.",
                "Softmax divides by the sum of the exponentials, however large it is. Its weights sum to 1 "
                "for any scores.",
            ),
        ),
    ),
    Number(
        "1.5",
        "Normalising in place",
        "What is row[1] after this loop, to two decimal places?\n"
        "    row = np.array([1.0, 1.0])\n"
        "    for j in range(2):\n"
        "        row[j] = row[j] / row.sum()",
        right=2 / 3,
        why="First row[0] becomes 1/2. By the time row[1] is divided, the sum is 1.5, no longer 2, and 1 "
        "divided by 1.5 is 0.67. To avoid this, compute the sum once, before the loop changes anything.",
        slips={
            0.5: "This is what the author of the loop wanted. Look at row.sum() again when j is 1: row[0] has changed.",
            1: "row[1] is divided as well. It would stay the same only if the sum were 1 at that moment.",
            1 / 3: "This is row[0] / row.sum() when j is 1. The question is about row[1].",
        },
        pointer="Go through the loop by hand: write down the row and its sum after each step.",
        tolerance=0.005,
    ),
    Shape(
        "1.6",
        "The shape of the weights",
        "You run self-attention on ten vectors with five features each. What is the shape of the matrix of weights?",
        right=(10, 10),
        why="Each of the ten queries has a weight for each of the ten keys: rows ask, columns answer. The "
        "features do not appear in the shape, because the dot products sum over them.",
        slips={
            (5, 5): "A matrix of this shape compares features with features, as x.T @ x does. Attention compares "
            "vectors.",
            (10, 5): "This is the shape of the input, and of the output. There is one weight for each pair of vectors.",
            (5, 10): "This is the shape of x.T. A weight belongs to a pair of vectors, not to a feature and a vector.",
            (10,): "This is enough for a single query. Here every vector is a query.",
        },
        pointer="Rows ask and columns answer. How many vectors ask, and how many answer?",
    ),
    SeveralOf(
        "1.7",
        "What is always true of the weights",
        "You compute the scores x @ x.T and apply softmax to each row. Which of these statements about "
        "the weights are true, whatever the vectors x are?",
        (
            wrong(
                "Every column sums to 1.",
                "Softmax makes each row sum to 1, not each column. If several queries give the same vector a large "
                "weight, its column can sum to more than 1.",
            ),
            right(
                "No weight is negative.",
                "Exponentials are never negative, so dividing one by a sum of them cannot give a negative number.",
            ),
            wrong(
                "The matrix of weights is symmetric, like the matrix of scores.",
                "The scores are symmetric. But each row of exponentials is divided by its own sum, and "
                "these sums usually differ.",
            ),
            wrong(
                "In each row, the largest weight is on the diagonal.",
                "The score on the diagonal is a vector's dot product with itself. A longer vector in a "
                "similar direction can score higher.",
            ),
            right(
                "Every row sums to 1.",
                "Each row of exponentials is divided by its own sum. That makes every output a weighted "
                "average of the vectors.",
            ),
        ),
    ),
    OneOf(
        "1.8",
        "The sequence in a different order",
        "You shuffle the ten input vectors and run the same self-attention again. What happens to the ten outputs?",
        (
            wrong(
                "They stay exactly as they were, row by row.",
                "Each output belongs to one input vector. When that vector moves to another row, its "
                "output moves with it.",
            ),
            right(
                "They are the same ten, shuffled in the same way as the inputs.",
                "An output depends on its own input vector and on which vectors are in the sequence, and a "
                "shuffle changes neither. Self-attention knows nothing about order; lesson 5 fixes this.",
            ),
            wrong(
                "They are ten new vectors, since every vector has new neighbours.",
                "The formula takes no account of which vectors are neighbours. A score depends on two vectors, "
                "not on which rows they are in.",
            ),
            wrong(
                "The vectors that moved get new outputs; the others keep theirs.",
                "Moving a vector to another row makes no difference: the vector is still compared with the same "
                "vectors as before.",
            ),
        ),
    ),
    FreeText(
        "1.9",
        "Why order is lost",
        "Why can't the self-attention of this lesson distinguish “dog bites man” from “man bites dog”? "
        "What would have to be added?",
        model="Each output is a weighted average of all the vectors, with weights computed from dot products. "
        "Neither the dot products nor the sum depends on which row a vector is in, so shuffled inputs give "
        "the same outputs, shuffled: “dog” gets the same output in both sentences. So the "
        "calculation has to depend on the positions. One way is to give each position a vector of its own "
        "and add it to the vector of the word at that position (lesson 5).",
        points=(
            "An output depends on its own input vector and on which vectors are in the sequence, not on their rows.",
            "Shuffling the inputs shuffles the outputs in the same way, and does nothing else.",
            "The calculation has to depend on the positions.",
        ),
    ),
)
