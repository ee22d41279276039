"""Questions of lesson 3: why divide by √d, in the order in which they are met."""

from math import exp, log

from transformer_lessons.exercises.questions.question import FreeText, Number, OneOf, right, wrong

QUESTIONS = (
    Number(
        "3.1",
        "The variance of a dot product",
        "Two vectors have 64 entries each, all independent, with mean 0 and variance 1. What is the "
        "variance of their dot product?",
        right=64,
        why="Each product of two entries has mean 0 and variance 1, and the variances of 64 independent "
        "products add up. So a typical score is about as large as its standard deviation, √64 = 8.",
        slips={
            8: "This is the standard deviation, the size of a typical dot product. The variance "
            "is its square.",
            1: "This is the variance of one product of two entries. The dot product adds up many of them.",
            128: "One product of two entries has variance 1 × 1, not 1 + 1.",
            4096: "You get this if all the products are equal, so that they cannot cancel. Here they are "
            "independent.",
        },
        pointer="First find the variance of one product of two entries. What happens to the variance when "
        "you add up independent products?",
        tolerance=0.5,
    ),
    OneOf(
        "3.2",
        "Find the false step",
        "Step 1: take a vector whose d entries all equal c > 0. Step 2: its length is d√c. Step 3: so its "
        "length grows with d. Step 4: the dot product of two such vectors grows with d as well. Which step "
        "is false?",
        (
            wrong(
                "Step 1",
                "This only picks a vector. It claims nothing that could be false.",
            ),
            right(
                "Step 2",
                "The length is the root of d × c², which is c√d. For d = 16 and c = 3 it is 12, while "
                "d√c is 27.7.",
            ),
            wrong(
                "Step 3",
                "The length does grow with d, even though the formula in step 2 is wrong.",
            ),
            wrong("Step 4", "The dot product of two such vectors is d × c², which does grow with d."),
        ),
    ),
    Number(
        "3.3",
        "Two scores and the scale",
        "With d = 64, two keys have the scores 8 and 0 before scaling. What is the larger weight after "
        "dividing the scores by √d, to two decimals?",
        right=1 / (1 + exp(-1)),
        why="The scores become 1 and 0, and 1 / (1 + exp(-1)) = 0.73. Without the scale, one key would get "
        "0.9997, nearly everything.",
        slips={
            1 / (1 + exp(-8)): "This is the weight without the scale, from the scores 8 and 0.",
            1 / (1 + exp(1)): "This is the smaller of the two weights.",
            1 / (1 + exp(-1 / 8)): "This is what you get if you divide by d. Divide by its square root, √d = 8.",
        },
        pointer="Divide both scores, take their exponentials, and divide the larger one by the sum of "
        "the two.",
        tolerance=0.005,
    ),
    OneOf(
        "3.4",
        "Where softmax can learn",
        "A softmax over two keys gives the first the weight w. For which value of w does a small change in "
        "the first key's score change w the most?",
        (
            wrong(
                "Close to 1",
                "There the first key has already won: at w = 0.9997 the slope is only 0.0003.",
            ),
            right(
                "At 0.5",
                "The slope is w(1 - w), which is largest in the middle, at 0.25. A large gap between the "
                "two scores pushes w to one of the ends, where the slope is close to 0.",
            ),
            wrong(
                "Close to 0",
                "The slope is w(1 - w), the same for w and for 1 - w. A weight near 0 is as stuck as one "
                "near 1.",
            ),
            wrong(
                "It is the same for every w",
                "Then the graph of w against the score would be a rising straight line, which must leave "
                "the range from 0 to 1. A weight never does.",
            ),
        ),
    ),
    Number(
        "3.5",
        "The entropy of equal weights",
        "Eight keys have equal weights. What is the entropy of these weights in nats, to two decimals?",
        right=log(8),
        why="-8 × (1/8) × ln(1/8) = ln 8 = 2.08, the largest entropy that eight weights can have. Without "
        "the scale the entropy falls towards 0 as d grows.",
        slips={
            3: "This is the entropy in bits. For nats, take the natural logarithm.",
            0: "This is the other extreme, with all the weight on one key.",
            log(8) / 8: "This is what one key contributes. The entropy adds up the contributions of all eight.",
            8: "This is the number of keys. The entropy is its logarithm.",
        },
        pointer="Entropy is minus the sum of w × ln(w) over all weights w.",
        tolerance=0.005,
    ),
    OneOf(
        "3.6",
        "Dividing by d",
        "Queries and keys have independent entries of mean 0 and variance 1, and d = 64. What are the "
        "weights like if the scores are divided by d instead of √d?",
        (
            wrong(
                "The same: softmax ignores the scale of its scores.",
                "Softmax ignores a number added to all scores, but it does not ignore a factor.",
            ),
            wrong(
                "Saturated: one key gets nearly everything.",
                "Large scores do this, for example when they are not divided at all. A larger divisor "
                "makes the scores smaller.",
            ),
            wrong(
                "Negative for about half of the keys.",
                "About half of the scores are negative, whatever the scale. Their exponentials never are.",
            ),
            right(
                "Nearly equal for all keys.",
                "The scores then have a standard deviation of √64 / 64 = 1/8, so their exponentials are "
                "all near 1. Training can make up for this with larger W_Q and W_K, but attention starts "
                "out close to a plain average.",
            ),
        ),
    ),
    OneOf(
        "3.7",
        "Twice as many keys",
        "The sequence becomes twice as long, while d stays as it is. What happens to the variance of a "
        "score?",
        (
            wrong(
                "It doubles.",
                "More tokens give more scores. Each score is a sum over features, and their number has not "
                "changed.",
            ),
            wrong(
                "It halves.",
                "The weights do get smaller on average, since they still sum to 1. The scores come before "
                "the softmax.",
            ),
            right(
                "It stays the same.",
                "A score depends on one query and one key: it is a sum over their d features. This is why "
                "the scale is √d and not √length.",
            ),
        ),
    ),
    Number(
        "3.8",
        "Scaled twice",
        "Queries and keys have 64 features. Someone divides the queries by √64 and the keys by √64, and "
        "then takes their dot products. What have the scores been divided by?",
        right=64,
        why="√64 × √64 = 64: the scores have been divided by d instead of by √d. To divide both queries "
        "and keys, divide each by the fourth root of d.",
        slips={
            8: "The queries alone have been divided by 8. The keys have been divided as well.",
            16: "A score is a sum of products, so the two divisors are multiplied, not added.",
            4096: "This would be right if each had been divided by d. Each was divided by its square root.",
        },
        pointer="Write one score as (q / √d) · (k / √d), and multiply the two divisors.",
        tolerance=0.01,
    ),
    FreeText(
        "3.9",
        "Why divide by the root of d",
        "Why does attention divide its scores by √d_k? What goes wrong without the scale, and what if "
        "you divide by d_k instead?",
        model="If all entries of queries and keys are independent with mean 0 and variance 1, a dot "
        "product over d_k features has variance d_k: scores grow like √d_k. For large d_k, most queries then put "
        "nearly all their weight on one key, picked by chance. Many of them get almost no gradient, and the "
        "undecided ones get huge gradients, which dominate the updates of W_Q and W_K. Divided by √d_k, "
        "the scores have variance 1, whatever d_k is. Divided by d_k, they have variance 1/d_k: the weights "
        "start nearly equal, and a training step moves the scores less.",
        points=(
            "The variance grows with d_k, because the variances of independent terms add up.",
            "Many saturated queries get almost no gradient.",
            "Divided by √d_k, the variance is 1 for every d_k.",
        ),
    ),
)
