"""Questions of lesson 8: a language model that writes plays, in the order in which they are met."""

from math import log, sqrt

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
        "8.1",
        "Tokens at word boundaries",
        "tokenize splits at word boundaries and leaves out empty tokens. How many tokens are there in “To go, or not”?",
        right=7,
        why="The tokens are “To”, a space, “go”, a comma with a space, “or”, another space, and “not”. Because a "
        "space is a token too, you get the text back if you join the tokens.",
        slips={
            9: 'This is what re.split(r"\\b", text) returns: it begins and ends with an empty string.',
            4: "You counted only the words. What comes between two words is a token as well.",
            13: "You counted characters. A token goes from one word boundary to the next.",
            8: "The comma and the space after it are one token: there is no word boundary between them.",
            5: "You counted the words and the comma. The spaces are part of the text, too.",
        },
        pointer="Draw a line wherever a word begins or ends, and count the pieces.",
    ),
    Shape(
        "8.2",
        "Sequences that do not overlap",
        "make_sequences cuts 1,024 tokens into inputs of length 64 that do not overlap, with targets one "
        "token ahead. What shape do the inputs have?",
        right=(15, 64),
        why="Sixteen rows would need 16 × 64 = 1,024 tokens as inputs, and the last target would be token "
        "number 1,025. So the last row does not fit, and 15 are left.",
        slips={
            (16, 64): "Sixteen rows would fit if they needed no targets. What would be the target of the "
            "very last token?",
            (960, 64): "Here a row starts at every token. Rows that do not overlap start 64 tokens apart.",
            (64, 16): "The number of rows comes first. And does the very last token have a target?",
            (64, 15): "Each row has length 64, but the number of rows comes first.",
            (15, 65): "A row of 65 tokens holds inputs and targets together. The inputs are the first 64 of them.",
        },
        pointer="How many tokens does the last row need, including its targets?",
    ),
    SeveralOf(
        "8.3",
        "Sequences that overlap",
        "Suppose a sequence of length 64 starts at every token, instead of at every 64th. Which statements are true?",
        (
            right(
                "An epoch has about 64 times as many sequences.",
                "A sequence starts at every token, so an epoch takes about 64 times as long, and the model "
                "reads nearly every token 64 times. So “one epoch” no longer means reading the text once.",
            ),
            wrong(
                "The model has 64 times as much text to learn from.",
                "The text is still the same. The model only meets each token more often, each time with a "
                "different stretch of text before it.",
            ),
            right(
                "If the sequences are then split at random, validation text ends up in the training set, too.",
                "Neighbours share 63 of their 64 tokens, so the text of nearly every validation sequence is "
                "also in the training set. Split the text first.",
            ),
            wrong(
                "Each token is still a target only once per epoch.",
                "A token is a target in every sequence whose inputs contain the token before it, usually "
                "in 64 of them.",
            ),
        ),
    ),
    Number(
        "8.4",
        "The loss before training",
        "A model gives equal probabilities to all 5,000 tokens of its vocabulary. What is its loss in "
        "nats per token, to one decimal place?",
        right=log(5000),
        why="The loss is -ln(1/5000) = ln 5000 = 8.5. If the first loss of a real model is far above this, the "
        "model starts out confident and wrong.",
        slips={
            log(5000, 2): "This is the logarithm to base two, so it is in bits.",
            log(5000, 10): "This is the logarithm to base ten. Nats need the natural logarithm.",
            1 / 5000: "This is the probability of each token. The loss is its negative logarithm.",
            5000: "This is the perplexity: the number of equally likely choices. The loss is its logarithm.",
        },
        pointer="The loss is -ln(p), where p is the probability that the model gave to the token that actually "
        "came next.",
        tolerance=0.06,
    ),
    Number(
        "8.5",
        "Perplexity by hand",
        "A model gives the three tokens of a text the probabilities 1/2, 1/4 and 1/8. What is its "
        "perplexity on this text?",
        right=4,
        why="The tokens cost 1, 2 and 3 bits, which is 2 bits on average, and 2 to the power of 2 is 4. So on "
        "average the model is as unsure as it would be with 4 equally likely choices.",
        slips={
            2: "This is the mean loss, in bits per token. Perplexity is 2 to this power (e to this power for nats).",
            2 * log(2): "This is the mean loss, in nats per token. Perplexity is its exponential.",
            24 / 7: "You averaged the probabilities first. Average their logarithms.",
            14 / 3: "You averaged the inverse probabilities. Average their logarithms instead.",
            64: "This is the perplexity of all three tokens taken as one. Perplexity is per token.",
        },
        pointer="Average the losses -ln(p) over the tokens, then take the exponential.",
        tolerance=0.01,
    ),
    Number(
        "8.6",
        "Bits per character by hand",
        "A text has 1,000 tokens and 3,200 characters in all, and its loss is 2.7726 nats per token (ln 16). "
        "How many bits per character is this, to two decimal places?",
        right=1.25,
        why="2.7726 nats / ln 2 = 4 bits per token. So the 1,000 tokens cost 4,000 bits in all, and "
        "4,000 / 3,200 = 1.25.",
        slips={
            log(16) / 3.2: "This is in nats per character. Divide by ln 2 to get bits.",
            4: "This is in bits per token. Divide by the number of characters per token.",
            12.8: "You multiplied by 3.2, the characters per token. But a token's bits are shared among its "
            "characters, so divide.",
            log(16) * log(2) / 3.2: "You multiplied by ln 2. A bit is less than a nat, so there must be more "
            "bits than nats.",
        },
        pointer="Convert nats to bits, then divide the bits of all tokens by the number of characters.",
        tolerance=0.006,
    ),
    OneOf(
        "8.7",
        "Two models with different tokens",
        "On the same text, a character-level model has a loss of 1.5 nats per token, and a word-level model "
        "has one of 4.5. The word-level model's tokens have 4 characters on average. Which is the better model of this "
        "text?",
        (
            wrong(
                "The character-level model: its loss is lower.",
                "One loss is for a single character, the other for a token of several. Convert both to the same unit.",
            ),
            right(
                "The word-level model.",
                "4.5 nats for 4 characters is 1.6 bits per character, while the character-level model needs "
                "1.5 / ln 2 = 2.2. In bits per character, you can compare any two models on the same text.",
            ),
            wrong(
                "They are equally good.",
                "They would be if the word-level model's tokens had 3 characters on average.",
            ),
            wrong(
                "They cannot be compared.",
                "You cannot compare them by nats per token, or by perplexity. But both models give the same text "
                "a probability, and you can count the characters of the text.",
            ),
        ),
    ),
    OneOf(
        "8.8",
        "Below the floor",
        "The invented play's entropy is known exactly. Your model's validation loss is well below it. What "
        "do you conclude?",
        (
            right(
                "Something is wrong: a leak, or a mistake in computing the loss.",
                "Perhaps validation text leaked into the training text, the model can see the tokens it is "
                "supposed to predict, or nats and bits are mixed up. "
                "A known floor makes such faults visible.",
            ),
            wrong(
                "The model is excellent.",
                "The entropy is the average loss of someone who knows the source itself. On new text, nobody can "
                "do better, except by luck, and then only a little.",
            ),
            wrong(
                "The model has too many parameters.",
                "On text that it has memorised, a model may go below the floor, but validation text should "
                "be new to it. On new text, no model goes below the floor on average, whatever its size.",
            ),
            wrong(
                "The entropy must be an estimate.",
                "For the complete works, all we have is an estimate. But the invented play is drawn from tables "
                "whose probabilities we know.",
            ),
        ),
    ),
    Number(
        "8.9",
        "Temperature by hand",
        "The logits 0 and ln 3 give the probabilities 0.25 and 0.75. What is the second probability at "
        "temperature 0.5?",
        right=0.9,
        why="Dividing by 0.5 doubles the logits: 0 and 2 ln 3 = ln 9, so the probabilities are 1/10 and "
        "9/10. Low temperatures favour the likeliest token.",
        slips={
            0.75: "This is the probability at temperature 1. Divide the logits by the temperature before the softmax.",
            sqrt(3) / (1 + sqrt(3)): "You multiplied the logits by 0.5. Divide them by it instead.",
            0.1: "This is the first probability.",
            1.5: "You divided the probability by the temperature. Divide the logits, then take the softmax again.",
        },
        pointer="Divide both logits by the temperature, then take the softmax.",
        tolerance=0.005,
    ),
    Number(
        "8.10",
        "Top-k by hand",
        "The probabilities of four tokens are 0.5, 0.3, 0.1 and 0.1. With top_k = 2, what is the "
        "probability of drawing the first token?",
        right=0.625,
        why="Two tokens remain, and 0.5 / (0.5 + 0.3) = 0.625. These two share the probability of the others "
        "in proportion to their own.",
        slips={
            0.5: "The other tokens are gone, so the probabilities of the two that remain must sum to 1.",
            0.6: "You shared the missing 0.2 equally. A softmax over the two that remain keeps their ratio.",
            1: "This would be right with top_k = 1.",
            0.8: "This is what the two tokens had together, before the others were removed.",
        },
        pointer="Keep the two largest, then make them sum to 1 again.",
        tolerance=0.001,
    ),
    OneOf(
        "8.11",
        "What a cache may keep",
        "A causal language model with a key/value cache reads token 100. Why can it reuse the keys and "
        "values of the first 99 tokens?",
        (
            wrong(
                "Because they hardly change when a token is added.",
                "They do not change at all: with a cache the logits are the same, up to rounding. The question is why.",
            ),
            wrong(
                "Because the attention weights stay the same.",
                "The attention weights of the earlier tokens do stay the same, but they are not needed again. The new "
                "token has its own row of weights. To compute that row you need the earlier keys, and to compute the "
                "output you need the earlier values.",
            ),
            wrong(
                "Because they do not depend on the tokens.",
                "Keys and values are computed from the tokens, layer by layer. A cache is valid for one text only.",
            ),
            right(
                "Because no earlier token sees the new one, in any layer.",
                "With a causal mask, a token's vectors depend only on that token and the ones before it. So "
                "only the new token has to pass through the layers.",
            ),
        ),
    ),
    FreeText(
        "8.12",
        "Before you compare two losses",
        "A friend's language model reaches 1.2 nats per token on Shakespeare, yours 4.6. What do you ask "
        "before you congratulate them?",
        model="First, what is a token? If your tokens differ, you can compare the losses only in bits per character, "
        "with all characters counted. Second, which edition was it, and which part was held out? The loss "
        "depends on both. Third, was that part truly unseen, or does the loss look better than it is because "
        "overlapping sequences were split at random, or because the model was chosen on the very text it is "
        "evaluated on? Last, were rare words counted in full, or did they become one “unknown” token, which lowers "
        "the loss but makes the text impossible to recover?",
        points=(
            "The unit: bits per character, on the same text.",
            "The split: by blocks of text, before sequences are made.",
            "Rare words: spelled out and counted in full.",
        ),
    ),
)
