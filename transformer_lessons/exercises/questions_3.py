"""Questions of lesson 3: why divide by √d, in the order in which they are met."""

from math import exp, log

from transformer_lessons.exercises.asking import FreeText, Number, OneOf, right, wrong

QUESTIONS = (
    Number(
        "3.1",
        "The variance of a dot product",
        "Two vectors have 64 entries each, all independent, with mean 0 and variance 1. What is the "
        "variance of their dot product?",
        right=64,
        why="Each product of two entries has mean 0 and variance 1, and the variances of 64 independent "
        "terms add up. A typical score is therefore about as large as its standard deviation, √64 = 8.",
        slips={
            8: "This is the standard deviation: it says how large a typical dot product is. The variance "
            "is its square.",
            1: "This is the variance of one product of two entries. The dot product adds up many of them.",
            128: "One product of two entries has the variance 1 × 1, not 1 + 1.",
            4096: "This is what you get if all terms are equal, so that they cannot cancel. Here they are "
            "independent.",
        },
        pointer="Find the variance of one product of two entries, then remember what independent terms do "
        "to a variance.",
        tolerance=0.5,
    ),
    OneOf(
        "3.2",
        "Find the error in a popular argument",
        "Step 1: take a vector whose k entries all equal c > 0. Step 2: its length is k√c. Step 3: so its "
        "length grows with k. Step 4: the dot product of two such vectors grows with k as well. Which step "
        "is false?",
        (
            wrong(
                "Step 1",
                "It picks a special vector as an example, and claims nothing that could be false.",
            ),
            right(
                "Step 2",
                "The length is the root of k × c², and that is c√k. For k = 16 and c = 3 it is 12, while "
                "k√c gives 27.7.",
            ),
            wrong(
                "Step 3",
                "The length does grow with k, even though this argument gives a poor reason for it.",
            ),
            wrong("Step 4", "The dot product of two such vectors is k × c², and it does grow with k."),
        ),
    ),
    Number(
        "3.3",
        "Two scores and the scale",
        "With d = 64, two keys have the scores 8 and 0 before the scale. What is the larger weight after "
        "dividing the scores by √d, to two decimals?",
        right=1 / (1 + exp(-1)),
        why="The scores become 1 and 0, and 1 / (1 + exp(-1)) = 0.73. Without the scale one key would take "
        "0.9997, nearly everything.",
        slips={
            1 / (1 + exp(-8)): "This is the weight before the scale, with the scores still at 8 and 0.",
            1 / (1 + exp(1)): "This is the smaller of the two weights.",
            1 / (1 + exp(-1 / 8)): "This is what dividing by d gives. The scale is its square root.",
        },
        pointer="Divide both scores first. Then take their exponentials, and the larger one's share of the "
        "sum.",
        tolerance=0.005,
    ),
    OneOf(
        "3.4",
        "Where softmax can learn",
        "A softmax over two keys gives the first the weight w. At which w does w react most to a small "
        "change of its score?",
        (
            wrong(
                "Close to 1",
                "There the other key is out of the race already: at w = 0.9997 the slope is only 0.0003.",
            ),
            right(
                "At 0.5",
                "The slope is w(1 - w), which is largest in the middle, at 0.25. Large scores push w to "
                "the ends, where next to no gradient flows.",
            ),
            wrong(
                "Close to 0",
                "The slope is w(1 - w), the same for w as for 1 - w: a weight near 0 is as stuck as one "
                "near 1.",
            ),
            wrong(
                "At all w alike",
                "This would make w a straight line in the score. A line leaves the range from 0 to 1; "
                "softmax bends.",
            ),
        ),
    ),
    Number(
        "3.5",
        "The entropy of equal weights",
        "Eight keys have equal weights. What is the entropy of these weights in nats, to two decimals?",
        right=log(8),
        why="-8 × (1/8) × ln(1/8) = ln 8 = 2.08, the most that eight weights can have. Without the scale "
        "the entropy falls towards 0 as d grows.",
        slips={
            3: "This is the entropy in bits. For nats, take the natural logarithm.",
            0: "This is the other extreme: all the weight on one key.",
            log(8) / 8: "This is the share of one key. The entropy adds up the shares of all.",
            8: "This is the number of keys that share the weight. The entropy is the logarithm of it.",
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
                "The same: softmax does not care for the scale of its scores.",
                "Softmax ignores a number added to all scores. A factor it does not ignore.",
            ),
            wrong(
                "Saturated: one key gets nearly everything.",
                "This happens to large scores, as when nothing divides them. A larger divisor makes them "
                "smaller.",
            ),
            wrong(
                "Negative for about half of the keys.",
                "About half of the scores are negative, with any scale. Their exponentials never are.",
            ),
            right(
                "Nearly equal for all keys.",
                "The scores then have the standard deviation √64 / 64 = 1/8, so their exponentials are all "
                "near 1. Training can undo this with larger W_Q and W_K, but it starts out looking nowhere "
                "in particular.",
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
                "More tokens give more scores. Each score is a sum over features, and of these there are "
                "as many as before.",
            ),
            wrong(
                "It halves.",
                "The weights do get smaller, since more keys share the total of 1. The scores come before "
                "the sharing.",
            ),
            right(
                "It stays as it was.",
                "A score sees one query and one key, and sums over their d features. This is why the scale "
                "is √d and not √length.",
            ),
        ),
    ),
    Number(
        "3.8",
        "Scaled twice",
        "Queries and keys have 64 features. Somebody divides the queries by √64, divides the keys by √64, "
        "and multiplies the two. By what have the scores been divided?",
        right=64,
        why="√64 × √64 = 64: the scores have been divided by d instead of by √d. To share the scale "
        "between both, divide each by the fourth root of d.",
        slips={
            8: "This is what the queries have been divided by. The keys have been divided as well.",
            16: "A score is a product, so the two divisors multiply; they do not add.",
            4096: "This would be right if each had been divided by d. Each was divided by its square root.",
        },
        pointer="Write one score as (q / √d) · (k / √d) and gather the divisors.",
        tolerance=0.01,
    ),
    FreeText(
        "3.9",
        "Why divide by the root of d",
        "Why does attention divide its scores by √d_k? What goes wrong without the scale, and what with "
        "d_k in its place?",
        model="If the entries of queries and keys are independent with mean 0 and variance 1, a dot "
        "product of d_k of them has variance d_k: scores grow like √d_k. Softmax of large scores puts "
        "nearly all weight on one key, and there its slope w(1 - w) is nearly 0, so that queries and keys "
        "hardly learn. Dividing by √d_k brings the variance back to 1, whatever d_k is. Dividing by d_k "
        "leaves the variance 1/d_k, and with it nearly equal weights.",
        points=(
            "The variance grows with d_k, because independent terms add their variances.",
            "Saturated weights have next to no gradient.",
            "Divided by √d_k the variance is 1, and does not depend on the width.",
        ),
    ),
)
