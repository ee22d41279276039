"""Questions of lesson 3: why divide by √d, in the order in which they are met."""

from math import exp, log

from transformer_lessons.exercises.questions.question import FreeText, Number, OneOf, right, wrong

QUESTIONS = (
    Number(
        "3.1",
        "The variance of a dot product",
        "Two vectors have 64 features each. All the features are independent, with mean 0 and variance 1. What "
        "is the variance of the dot product of the two vectors?",
        right=64,
        why="Each product of two features has mean 0 and variance 1. The 64 products are independent, so "
        "their variances add up to 64. A typical score is about as large as the standard deviation, "
        "which is √64 = 8.",
        slips={
            8: "This is the standard deviation, which tells you how large a typical dot product is. The "
            "variance is the square of the standard deviation.",
            1: "This is the variance of one product of two features. The dot product adds up many of them.",
            128: "The variance of one product of two features is 1 × 1, not 1 + 1.",
            4096: "You would get this if all the products were equal, because then they could not cancel. "
            "Here they are independent.",
        },
        pointer="First work out the variance of one product of two features. Then ask what happens to the "
        "variance when you add up independent products.",
        tolerance=0.5,
    ),
    OneOf(
        "3.2",
        "Find the wrong step",
        "Here is an argument in four steps. Step 1: take a vector with d features, all equal to c > 0. "
        "Step 2: the length of this vector is d√c. Step 3: so the length grows with d. Step 4: the dot product "
        "of two vectors like this grows with d as well. Which step is wrong?",
        (
            wrong(
                "Step 1",
                "This step only picks a vector. It makes no claim that could be wrong.",
            ),
            right(
                "Step 2",
                "The length is the square root of d × c², which is c√d. For d = 16 and c = 3, the length is "
                "12, but d√c is 27.7.",
            ),
            wrong(
                "Step 3",
                "The length does grow with d, even though the formula in step 2 is wrong.",
            ),
            wrong("Step 4", "The dot product of two of these vectors is d × c², which does grow with d."),
        ),
    ),
    Number(
        "3.3",
        "Scaling two scores",
        "There are two keys, and d = 64. Before scaling, their scores are 8 and 0. If you divide the "
        "scores by √d, what is the larger of the two weights, to two decimal places?",
        right=1 / (1 + exp(-1)),
        why="The scores become 1 and 0, so the larger weight is 1 / (1 + exp(-1)) = 0.73. Without "
        "scaling, the larger weight would be 0.9997, which leaves almost nothing for the other key.",
        slips={
            1 / (1 + exp(-8)): "This is the weight without scaling, from the scores 8 and 0.",
            1 / (1 + exp(1)): "This is the smaller of the two weights.",
            1 / (1 + exp(-1 / 8)): "You get this if you divide by d. Divide by the square root of d, which is 8.",
        },
        pointer="Divide both scores and take the exponentials of the results. Then divide the larger "
        "exponential by the sum of the two.",
        tolerance=0.005,
    ),
    OneOf(
        "3.4",
        "Where a small change matters most",
        "A softmax over two keys gives the weight w to the first key. For which value of w does a small "
        "change in the first key's score have the largest effect on w?",
        (
            wrong(
                "Close to 1",
                "There, the first key already has nearly all the weight, and a small change in its score "
                "has hardly any effect. At w = 0.9997, the slope is only 0.0003.",
            ),
            right(
                "At 0.5",
                "The slope is w(1 - w). It is largest in the middle, where it is 0.25. A large gap between "
                "the two scores pushes w towards 0 or 1, and there the slope is close to 0.",
            ),
            wrong(
                "Close to 0",
                "The slope is w(1 - w), so it is the same for w and for 1 - w. A weight near 0 is just as "
                "hard to change as a weight near 1.",
            ),
            wrong(
                "The effect is the same for every w",
                "If that were so, the graph of w against the score would be a rising straight line. A line like "
                "that leaves the range from 0 to 1 sooner or later, but a weight never does.",
            ),
        ),
    ),
    Number(
        "3.5",
        "The entropy of equal weights",
        "Eight keys have equal weights. What is the entropy of these weights in nats, to two decimal places?",
        right=log(8),
        why="The entropy is -8 × (1/8) × ln(1/8) = ln 8 = 2.08. This is the largest entropy that eight "
        "weights can have. Without scaling, the entropy falls towards 0 as d grows.",
        slips={
            3: "This is the entropy in bits. For nats, take the natural logarithm.",
            0: "This is the other extreme, with all the weight on one key.",
            log(8) / 8: "This is what one key contributes. The entropy adds up the contributions of all eight.",
            8: "This is the number of keys. The entropy is the logarithm of that number.",
        },
        pointer="To get the entropy, add up w × ln(w) over all the weights w, and change the sign of the sum.",
        tolerance=0.005,
    ),
    OneOf(
        "3.6",
        "Dividing by d",
        "The features of queries and keys are independent, with mean 0 and variance 1, and d = 64. If you "
        "divide the scores by d instead of √d, what do the weights look like?",
        (
            wrong(
                "The same as with √d: softmax ignores the size of its scores.",
                "If you add the same number to all the scores, softmax gives the same weights. But if you "
                "multiply them all by the same number, the weights generally change.",
            ),
            wrong(
                "Saturated: one key gets nearly everything.",
                "Softmax saturates when the scores are large, for example when you do not divide them at "
                "all. A larger divisor makes the scores smaller.",
            ),
            wrong(
                "Negative for about half of the keys.",
                "About half of the scores are negative, whatever you divide by. But softmax takes their "
                "exponentials, and these are never negative.",
            ),
            right(
                "Nearly equal for all keys.",
                "The scores then have a standard deviation of √64 / 64 = 1/8, so their exponentials are "
                "all near 1. Training can make up for this by making W_Q and W_K larger, but attention "
                "starts close to a plain average.",
            ),
        ),
    ),
    OneOf(
        "3.7",
        "Twice as many keys",
        "You make the sequence twice as long and keep d as it is. What happens to the variance of a score?",
        (
            wrong(
                "It doubles.",
                "With more tokens, there are more scores. But each score is a sum over the features, and "
                "the number of features has not changed.",
            ),
            wrong(
                "It halves.",
                "The weights do get smaller on average, because there are more of them and they still sum "
                "to 1. But the scores are computed before the softmax.",
            ),
            right(
                "It stays the same.",
                "A score is the dot product of one query and one key. It is a sum over d features, however long "
                "the sequence is. That is why we divide by √d and not by √length.",
            ),
        ),
    ),
    Number(
        "3.8",
        "The divisor of the scores",
        "In the bug hunt, queries and keys have 64 features. By what number does suspicious_attention "
        "divide their scores?",
        right=64,
        why="It divides the queries by √64 and the keys by √64. Because √64 × √64 = 64, it divides the scores "
        "by d instead of √d. To divide both the queries and the keys, divide each of them by the fourth root of d.",
        slips={
            8: "You would get this if only the queries were divided by 8. The keys are divided by 8 as well.",
            16: "A score is a sum of products, so you have to multiply the two divisors, not add them.",
            4096: "You would get this if the queries and the keys were each divided by d. They are each "
            "divided by the square root of d.",
        },
        pointer="Write a score as (q / √d) · (k / √d). Then multiply the two divisors.",
        tolerance=0.01,
    ),
    FreeText(
        "3.9",
        "Why divide by the square root of d",
        "Why does attention divide its scores by √d? What goes wrong if you do not divide at all, and "
        "what happens if you divide by d instead?",
        model="If all the features of queries and keys are independent, with mean 0 and variance 1, a dot product "
        "over d features has variance d, so scores grow like √d. With large d and no scaling, most queries give "
        "nearly all their weight to one key, picked by chance. Many of them get almost no gradient. The "
        "undecided ones get huge gradients and dominate the first updates of W_Q and W_K. If you divide by √d, the "
        "scores have variance 1 for every d. If you divide by d, they have variance 1/d, so the weights start "
        "nearly equal, and each step moves the scores less.",
        points=(
            "The variance grows with d, because the variances of independent terms add up.",
            "Many saturated queries get almost no gradient.",
            "If you divide by √d, the variance is 1 for every d.",
        ),
    ),
)
