"""Questions of lesson 6: masking, in the order in which they are met."""

from math import exp, log

from transformer_lessons.exercises.questions.question import FreeText, Number, OneOf, Shape, right, wrong

QUESTIONS = (
    Number(
        "6.1",
        "Counting the entries of a causal mask",
        "How many entries of a causal mask for six tokens are True, meaning “may attend”?",
        right=21,
        why="Each token may attend to itself and to those before it, so the rows have 1 + 2 + 3 + 4 + 5 + 6 = 21 "
        "True entries.",
        slips={
            15: "A token may look at itself, because only the future is hidden. You left out the diagonal, or you "
            "counted the hidden entries.",
            36: "This counts the whole table, as if nothing were hidden.",
            6: "This counts only the diagonal. A token may look at the past, too.",
        },
        pointer="Write down, row by row, how many tokens each of the six may look at.",
    ),
    OneOf(
        "6.2",
        "The first row under a causal mask",
        "The scores of five tokens are random, and a causal mask is applied. What is the first row of the weights?",
        (
            wrong(
                "It depends on the scores.",
                "The scores decide how the row's total weight of 1 is shared among its keys. How many keys may "
                "this row use?",
            ),
            wrong("0.2, 0.2, 0.2, 0.2, 0.2", "You would get this from equal scores, without a mask."),
            right(
                "1, 0, 0, 0, 0",
                "The first token may look only at itself, and the weights sum to 1. Its output is its own "
                "value, whatever the scores.",
            ),
            wrong(
                "0, 0, 0, 0, 0",
                "This would be right for a token that may look at nothing. But the first token may look at itself.",
            ),
        ),
    ),
    Number(
        "6.3",
        "A mask after the softmax",
        "Four keys have equal scores. A causal mask is applied after the softmax, by setting the weights of "
        "hidden keys to 0. What do the weights of the second token (index 1) sum to?",
        right=0.5,
        why="Softmax gave each of the four keys a weight of 1/4, and the mask keeps two of them. The hidden keys "
        "still have an effect, because their exponentials are in the sum that softmax divides by. You could undo this "
        "by dividing each row by its sum, unless a hidden score is so large that the sum rounds to 0.",
        slips={
            1: "The weights should sum to 1, and they would if the mask came before the softmax.",
            0.25: "This is the sum of the first token's row, or a single weight. The second token also sees itself.",
            0.75: "This is the sum of the third token's row.",
        },
        pointer="Write down the four weights before the mask, then cross out those that the second token may not see.",
        tolerance=0.005,
    ),
    Number(
        "6.4",
        "A mask that multiplies the scores",
        "The scores 0, 0 and 5 are multiplied by the mask 1, 1, 0, to hide the third key. Then softmax is "
        "applied. What is the third weight, to two decimal places?",
        right=1 / 3,
        why="The scores become 0, 0, 0, and equal scores give equal weights. A score of 0 hides nothing: "
        "exp(0) is 1, while exp(-∞) is 0.",
        slips={
            0: "This is the third score after the multiplication. The weight comes from its exponential.",
            exp(5) / (2 + exp(5)): "This is the weight without a mask. But the multiplication has changed "
            "the third score.",
            0.5: "This is what each of the other two would get if the third were really hidden.",
        },
        pointer="Write down the three scores after the multiplication, and take the softmax of these.",
        tolerance=0.005,
    ),
    Shape(
        "6.5",
        "The shape of a padding mask",
        "The tensor tokens has shape (3, 7): three sentences, padded to seven tokens. What is the smallest shape "
        "of a padding mask that hides keys and broadcasts to scores of shape (batch, heads, query, key)?",
        right=(3, 1, 1, 7),
        why="The mask says, for each sentence, which of its 7 keys are real. That is the same for every head and "
        "every query, so those two dimensions have size 1.",
        slips={
            (3, 7): "Broadcasting aligns shapes from the right, so it would match the 3 with the queries. The heads "
            "and the queries each need a dimension.",
            (3, 1, 7, 1): "This hides queries. The real tokens would still attend to padding.",
            (3, 1, 7, 7): "This has a row for each query, but all the rows of a sentence would be equal.",
            (3, 7, 7): "Broadcasting aligns shapes from the right, so it would match the 3 with the heads.",
            (1, 1, 1, 7): "This hides the same keys in every sentence, but each sentence has its own padding.",
        },
        pointer="Take batch, heads, query and key in turn: does the mask differ along that dimension? "
        "If not, its size there is 1.",
    ),
    OneOf(
        "6.6",
        "What padding changes",
        "Three padding tokens follow a sentence, and a padding mask hides them from every query. What is "
        "true of the output of self-attention?",
        (
            right(
                "At the real tokens, it is the same as without padding.",
                "Hidden keys get a weight of 0, so each real token takes the same weighted average as without padding. "
                "There are outputs at the padding too, but they mean nothing and must be left out of the loss.",
            ),
            wrong(
                "At the padding, it is zero.",
                "The mask hides padding only as keys. As queries, the padded positions still attend to the "
                "real tokens.",
            ),
            wrong(
                "At the real tokens, it is slightly different, because the softmax has more terms.",
                "The softmax does have more terms, but each hidden key adds exp(-∞) = 0 to the sum.",
            ),
            wrong(
                "At the padding, the loss automatically ignores it.",
                "A loss averages over everything it is given. You have to tell it what to leave out, for "
                "instance with ignore_index.",
            ),
        ),
    ),
    OneOf(
        "6.7",
        "The softmax of an empty row",
        "Every score in a row is -∞. What does torch.softmax return for this row?",
        (
            wrong(
                "Zeros",
                "This is what you would want, and what this course's masked_softmax returns. But "
                "torch.softmax only subtracts the largest score, takes exponentials and divides by their sum.",
            ),
            right(
                "NaN",
                "torch.softmax subtracts the largest score, and -∞ - (-∞) is NaN, which means “not a number”. NaN "
                "spreads to every sum and product that it enters, so it can reach the gradients.",
            ),
            wrong(
                "Equal weights",
                "You would get this if every score were a finite number such as -1e9: the query would then attend "
                "equally to every key, although it may see none of them. Infinity is different: what is -∞ minus -∞?",
            ),
            wrong(
                "An error",
                "Floating-point arithmetic raises no error here: it has a special value for such results.",
            ),
        ),
    ),
    OneOf(
        "6.8",
        "Two meanings of True",
        "The variable causal holds a causal mask, with True where a query may attend. You pass it as attn_mask "
        "to nn.MultiheadAttention, where True means “hide”. What does each token see?",
        (
            wrong(
                "Itself and the tokens before it",
                "This would be right if True meant “may attend”, as it does in F.scaled_dot_product_attention. "
                "But nn.MultiheadAttention reads the mask the other way round.",
            ),
            wrong(
                "All tokens",
                "The mask has the right shape and dtype, so it is not ignored. It is misread.",
            ),
            wrong("No token at all", "Part of the mask is False, and False hides nothing in nn.MultiheadAttention."),
            right(
                "Only the tokens after it",
                "The mask is read the wrong way round: pass ~causal instead. The last token is left with no key, and "
                "its output is NaN, which luckily reveals the mistake. With need_weights=False, even this warning "
                "may be missing.",
            ),
        ),
    ),
    Number(
        "6.9",
        "The best loss on random digits",
        "A causal model reads four random digits (each 0 to 9), then the same digits reversed. To two "
        "decimals, what is the lowest mean loss, in nats per digit, that it can expect on the random half?",
        right=log(10),
        why="Whatever came before, each of the ten digits has a probability of 1/10, and -ln(1/10) = ln 10 = 2.30. "
        "No model that sees only the past can expect less.",
        slips={
            0: "This is possible on the second half, because the first half determines it. But random digits cannot "
            "be predicted.",
            log(10) / 2: "This is halfway between the two halves' losses. The question is about the random half alone.",
            log(10) * 3 / 7: "This is the best mean over all seven predictions: three for random digits, "
            "and four that can be certain. The question is about the random ones only.",
            log(10, 2): "This is in bits. For nats, take the natural logarithm.",
            0.1: "This is the probability that the best model gives to each digit. The loss is minus its logarithm.",
        },
        pointer="The loss is -ln(p): what probability can an honest model give to the next digit?",
        tolerance=0.006,
    ),
    OneOf(
        "6.10",
        "Too good to be true",
        "Fresh random digits are drawn at every training step, yet the loss on the random half falls to 0.4, far "
        "below ln 10. What has happened?",
        (
            wrong(
                "The model has been trained well.",
                "A loss of 0.4 means that the right digit typically gets a probability of about 0.67. Training "
                "teaches patterns, and random digits have none.",
            ),
            wrong(
                "The model has overfitted: it has memorised the digits.",
                "New digits are drawn at every step, and they do not depend on earlier ones. There is "
                "nothing to memorise.",
            ),
            wrong(
                "It was a lucky draw.",
                "Over hundreds of digits, luck evens out. A mean loss so far below ln 10 does not happen by chance.",
            ),
            right(
                "The future leaks: the model sees what it should predict.",
                "Only the future can reveal the next digit. Look for a mask that is missing, shifted or "
                "inverted, or for heads merged wrongly. Targets that are not shifted give the same "
                "symptom: the model then copies its own input.",
            ),
        ),
    ),
    FreeText(
        "6.11",
        "Solving the task does not prove a model correct",
        "Your model predicts the reversed half without a mistake. Why does this not prove that the model is "
        "correct? How does checking both halves help, and what still slips through?",
        model="Success shows that the predictions are good, but not how the model makes them. If there is a leak, the "
        "model can copy the answer. Training can compensate for other faults: smaller queries make up for missing "
        "scaling. The random half is a negative control: no honest model can expect to beat ln(vocabulary size) on it, "
        "so a leak into that half shows up once the model has learned to use it. Faults that neither leak nor hinder "
        "learning, such as different scaling, slip past both checks. To find them, compare the outputs with those of "
        "an independent implementation.",
        points=(
            "A leak can make the task easier, so success does not rule one out.",
            "A mean loss far below ln(vocabulary size) on the random half is a sign of a leak.",
            "Training can compensate for many faults, so compare the outputs, not only the loss.",
        ),
    ),
)
