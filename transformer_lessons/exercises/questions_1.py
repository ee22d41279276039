"""Questions of lesson 1: self-attention from scratch, in the order in which they are met."""

from transformer_lessons.exercises.asking import FreeText, Number, OneOf, SeveralOf, Shape, right, wrong

QUESTIONS = (
    Number(
        "1.1",
        "A weighted average by hand",
        "The values 2, 8 and 4 have the weights 0.5, 0.25 and 0.25. What is their weighted average?",
        right=4,
        why="0.5 × 2 + 0.25 × 8 + 0.25 × 4 = 1 + 2 + 1 = 4. Every output of attention is such a sum, with "
        "whole vectors in the place of these three numbers.",
        slips={
            14: "You added the values without their weights, as if each weight were 1.",
            14 / 3: "This is the plain average, in which each of the three has the weight one third.",
            4 / 3: "The weights sum to 1 already, so nothing is left to divide by: leave out the division "
            "by 3.",
        },
        pointer="Multiply each value by its own weight, then add up the three products.",
        tolerance=0.01,
    ),
    OneOf(
        "1.2",
        "The best match of a vector",
        "The query is (1, 2). With which of these vectors is its dot product largest?",
        (
            wrong(
                "(1, 2)",
                "It points exactly the same way, and the dot product is 5. But length counts as well as "
                "direction, and another vector on the list gains more by its length than it loses by its "
                "direction.",
            ),
            wrong(
                "(2, 1)",
                "Here the dot product is 4: each large entry meets a small one. The query gets more than "
                "that with itself.",
            ),
            right(
                "(3, 3)",
                "1 × 3 + 2 × 3 = 9, more than the 5 of the query with itself. The dot product rewards "
                "direction and length together, so a vector need not be its own best match.",
            ),
            wrong(
                "(-2, -4)",
                "It is long, but points the opposite way: at -10 its dot product is the smallest of the "
                "four.",
            ),
        ),
    ),
    Number(
        "1.3",
        "Softmax by hand",
        "Softmax turns the scores 0 and ln 3 into two weights. What is the second weight?",
        right=0.75,
        why="exp(0) = 1 and exp(ln 3) = 3, so the weights are 1/4 and 3/4. The difference of two scores "
        "decides the ratio of their weights.",
        slips={
            0.25: "This is the weight of the first score, 0.",
            3: "This is exp(ln 3). It has yet to be divided by the sum of both exponentials.",
            1: "Dividing the scores themselves by their sum gives this. Softmax first takes the "
            "exponential of each.",
            0.5: "Equal weights belong to equal scores, and these two differ.",
        },
        pointer="Take the exponential of each score, then divide each of the two by their sum.",
        tolerance=0.005,
    ),
    OneOf(
        "1.4",
        "A constant added to every score",
        "You add 100 to every score. What happens to the weights that softmax makes of them?",
        (
            right(
                "Nothing.",
                "exp(s + 100) = exp(100) × exp(s), and the common factor cancels in the division. A stable "
                "softmax therefore subtracts the largest score first: the same weights, without overflow.",
            ),
            wrong(
                "They get sharper: the largest comes closer to 1.",
                "Multiplying the scores by more than 1 does this, because it widens the gaps between them. "
                "Adding the same number to all leaves the gaps alone.",
            ),
            wrong(
                "They get flatter: all come closer to each other.",
                "As proportions, 101 and 100 are closer than 1 and 0. Softmax, however, goes by "
                "differences, not by proportions.",
            ),
            wrong(
                "They no longer sum to 1.",
                "Softmax divides by the sum of the exponentials, however large they are. Its weights sum "
                "to 1 for any scores.",
            ),
        ),
    ),
    Number(
        "1.5",
        "Normalising in place",
        "What is row[1] after this loop, to two decimals?\n"
        "    row = np.array([1.0, 1.0])\n"
        "    for j in range(2):\n"
        "        row[j] = row[j] / row.sum()",
        right=2 / 3,
        why="First row[0] becomes 1/2. When row[1] has its turn the sum is 1.5, no longer 2, and 1 divided "
        "by 1.5 is 0.67. Compute the sum once, before anything changes.",
        slips={
            0.5: "This is what the author of the loop wanted. Look at row.sum() again when j is 1: row[0] "
            "has changed.",
            1: "row[1] is divided too, and it would stay as it was only if the sum were 1 at that moment.",
            1 / 3: "This is the smaller part, row[0] / row.sum(), if you ask for it when row[1] has its "
            "turn.",
        },
        pointer="Play the loop by hand: write down the row and its sum after each step.",
        tolerance=0.005,
    ),
    Shape(
        "1.6",
        "The table of weights",
        "Self-attention runs over ten vectors of five features each. Which shape does its table of weights "
        "have?",
        right=(10, 10),
        why="Each of the ten vectors has a weight for each of the ten: rows ask, columns answer. The "
        "features have been summed away in the dot products.",
        slips={
            (5, 5): "This table compares features with features, as x.T @ x does. Attention compares "
            "vectors.",
            (10, 5): "This is the shape of the input, and of the output. The weights say who listens to "
            "whom.",
            (5, 10): "This is the shape of x.T. The weights say who listens to whom, and features do "
            "neither.",
            (10,): "This is enough for one vector that asks. Here every vector asks.",
        },
        pointer="Rows ask and columns answer: count those who ask, and those who answer.",
    ),
    SeveralOf(
        "1.7",
        "What holds for all weights",
        "The scores are x @ x.T for any vectors x, and softmax runs over each row. What is always true of "
        "the weights?",
        (
            wrong(
                "Every column sums to 1.",
                "Each row is divided by the row's own sum. The column of a vector that many listen to can "
                "sum to more than 1.",
            ),
            right(
                "No weight is negative.",
                "Exponentials are never negative, and so neither is a share of their sum.",
            ),
            wrong(
                "They are symmetric, as the scores are.",
                "The scores are symmetric. But each row is then divided by a sum of its own, and the sums "
                "differ.",
            ),
            wrong(
                "In each row, the largest weight is on the diagonal.",
                "The diagonal holds each vector's dot product with itself. A longer vector in a similar "
                "direction can beat it.",
            ),
            right(
                "Every row sums to 1.",
                "Each row is divided by its own sum, so every output is an average of the vectors.",
            ),
        ),
    ),
    OneOf(
        "1.8",
        "The sequence in another order",
        "You shuffle the ten input vectors and run the same self-attention again. What happens to the ten "
        "outputs?",
        (
            wrong(
                "They stay as they were, each in its old row.",
                "Each output belongs to one input vector. When that vector moves to another row, its "
                "output moves too.",
            ),
            right(
                "They are the same ten, shuffled in the same way.",
                "An output depends on its own vector and on the set of all vectors, and the set is the "
                "same. Self-attention knows nothing about order; lesson 5 mends this.",
            ),
            wrong(
                "They are ten new vectors, since every vector has new neighbours.",
                "Who is next to whom appears nowhere in the formula: a weight depends on two vectors, not "
                "on the rows they are in.",
            ),
            wrong(
                "Those of the vectors that moved are new; the others stay.",
                "Moving changes nothing for the vector that moves: it is compared with the same vectors as "
                "before.",
            ),
        ),
    ),
    FreeText(
        "1.9",
        "Why order is lost",
        "Why can self-attention, as built in this lesson, not tell “dog bites man” from “man bites dog”? "
        "What would have to be added?",
        model="Each output is a weighted average over all vectors, with weights made of dot products. "
        "Neither the dot products nor the sum ask in which row a vector stands, so shuffled inputs give "
        "the same outputs, shuffled: “dog” gets the same vector in both sentences. Order must therefore be "
        "put into the vectors themselves, for example by adding to each a vector that depends on its "
        "position (lesson 5).",
        points=(
            "An output depends on its own vector and on the set of all vectors, not on rows.",
            "Shuffling the inputs shuffles the outputs in the same way, and does nothing else.",
            "The position has to become part of the input.",
        ),
    ),
)
