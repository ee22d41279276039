"""Questions of lesson 12: the same results, faster, in the order in which they are met."""

from transformer_lessons.exercises.questions.question import FreeText, Number, OneOf, right, wrong

QUESTIONS = (
    Number(
        "12.1",
        "Where attention overtakes the matrices",
        "A layer has d_model = 128 and d_hidden = 512. Its six matrices take 4 · 128² + 2 · 128 · 512 = 196,608 "
        "multiplications per token. For each query, every key takes 128 multiplications for its score, and 128 more "
        "to weight its value. With how many keys does attention cost as much per token as the matrices?",
        right=768,
        why="For each key, the score and the average together take 2 · 128 = 256 multiplications, and 196,608 / 256 = "
        "768. Whenever d_hidden = 4 d_model, the answer is 6 d_model.",
        slips={
            1536: "You counted only the scores. Averaging the values costs as much again.",
            256: "You counted only the four projections. The feed-forward layer has matrices, too.",
            512: "You counted only the feed-forward layer. Attention's four projections are matrices, too.",
        },
        pointer="How many multiplications does one key take, for its score and for weighting its value?",
    ),
    OneOf(
        "12.2",
        "Reading and writing",
        "A large model reads a prompt of 1,000 tokens in one call. Then it writes 1,000 tokens with a cache, one "
        "token per call. Reading and writing take the same number of multiplications in the matrices. Why is writing "
        "so much slower?",
        (
            wrong(
                "Each call computes the keys and values of all tokens again.",
                "The cache avoids this. Each key and value is computed once, when its token is new.",
            ),
            right(
                "Each call has to fetch every weight from memory, all for a single token.",
                "When the model reads, it fetches each weight once and uses it for 1,000 tokens. When it writes, it "
                "fetches each weight 1,000 times, for one token each time, so memory is the limit.",
            ),
            wrong(
                "Each call has a larger mask than the one before.",
                "A single new token may see everything before it, so it needs no mask at all.",
            ),
            wrong(
                "Multiplying a matrix by a single vector is less accurate, so it has to be repeated.",
                "The product is just as accurate, and nothing is repeated.",
            ),
        ),
    ),
    Number(
        "12.3",
        "The size of a cache",
        "Llama 3 8B has 32 layers, each with 32 query heads but only 8 KV heads of 128 features. How many "
        "MiB do the keys and values of 8,192 tokens take, at 2 bytes per number? (1 MiB is 2²⁰ bytes.)",
        right=1024,
        why="2 · 32 · 8 · 128 · 8,192 · 2 bytes = 2³⁰ bytes, which is 1,024 MiB. If each of the 32 query heads had "
        "its own keys and values, the cache would be four times as large.",
        slips={
            512: "You counted only the keys. The values are kept, too.",
            4096: "You counted 32 heads. There are only 8 KV heads, and four query heads share each of them.",
            2048: "You used 4 bytes per number. Here each number takes 2.",
            32: "That is the cache of one layer. There are 32 layers.",
        },
        pointer="Multiply six numbers: 2 (for keys and values), and the numbers of layers, heads, features per head, "
        "tokens and bytes per number.",
    ),
    Number(
        "12.4",
        "How far back windows reach",
        "A model has four layers, and each attends with a window of 8, which includes the position itself. How many "
        "positions back can a token be and still affect the output at the last position?",
        right=28,
        why="One layer reaches 7 positions back. The next layer reads what the first has gathered, so it reaches 7 "
        "positions further. Four layers reach 4 · 7 = 28 positions back.",
        slips={
            7: "That is one layer. The second layer reads what the first has gathered.",
            32: "A window of 8 includes the position itself, so it reaches only 7 positions back.",
            8: "That is the window of one layer, and it includes the position itself.",
            2401: "The distances add up; they do not multiply.",
        },
        pointer="How far back does one layer reach? And where can the next one start from?",
    ),
    Number(
        "12.5",
        "Online softmax by hand",
        "The scores come in two blocks. The first holds ln 2 and 0, and the second holds ln 4. After the first block, "
        "the maximum is ln 2 and the sum is 1 + 1/2. What is the sum after the second block, relative to the new "
        "maximum ln 4?",
        right=1.75,
        why="The old sum is multiplied by exp(ln 2 - ln 4) = 1/2, and the new score adds exp(0) = 1. So the new sum is "
        "1.5 / 2 + 1 = 1.75.",
        slips={
            2.5: "The sum so far is relative to the old maximum. It must first be rescaled to the new one.",
            4: "The factor is exp(old - new), which is less than 1. You multiplied by its inverse.",
            7: "That is the sum of the exponentials themselves, with no maximum subtracted.",
            0.75: "You left out the new block.",
        },
        pointer="Subtract the maximum ln 4 from each of the three scores, and add up the exponentials of the results.",
    ),
    OneOf(
        "12.6",
        "Twice as long",
        "Tiled attention reads 8,192 tokens instead of 4,096, with tiles of the same size. What happens to the time it "
        "takes, and to the largest table of scores it makes?",
        (
            wrong("Both quadruple.", "That holds for the plain formula. Here a tile is no larger than before."),
            wrong(
                "Both double.",
                "There are twice as many queries, and each has about twice as many keys on average. So there are about "
                "four times as many tiles.",
            ),
            right(
                "It takes about four times as long, but the table stays the same size.",
                "Each tile takes as long as before, and there are about four times as many. But the table does not "
                "grow: it is still just one tile.",
            ),
            wrong(
                "It takes about twice as long, but the table stays the same size.",
                "Every query is still compared with every key before it, so there are about four times as many tiles.",
            ),
        ),
    ),
    Number(
        "12.7",
        "How many drafts are accepted",
        "The expensive model gives three tokens the probabilities p = (0.5, 0.3, 0.2), and the cheap model gives them "
        "q = (0.2, 0.6, 0.2). A token is drawn from q, and accepted with probability min(1, p / q). What share of the "
        "drafts is accepted?",
        right=0.7,
        why="Each token is drafted and accepted with probability q · min(1, p / q), which is min(p, q). Over the three "
        "tokens this adds up to 0.2 + 0.3 + 0.2 = 0.7, the acceptance rate. In the remaining 30% of cases, the "
        "replacement is always the first token, the only one whose p is larger than its q.",
        slips={
            0.3: "That is the share that is rejected.",
            0.5: "That is how often the second token is accepted if it is drawn. The other two are always accepted.",
            0.32: "That is how often two independent draws, one from each model, would agree.",
        },
        pointer="For each token: how often is it drawn, and how often is it then accepted?",
    ),
    OneOf(
        "12.8",
        "A bad draft model",
        "A cheap model whose drafts are mostly accepted is replaced by one that gives every token the same "
        "probability. What happens to the text that speculative sampling writes?",
        (
            wrong(
                "It becomes a mixture of what the two models would write.",
                "After a rejection, the token is drawn from the residual, which adds exactly what is still missing.",
            ),
            wrong(
                "Rare tokens come up more often.",
                "They are drafted more often, but accepted only with probability p / q, which is small for them.",
            ),
            wrong(
                "It repeats itself.",
                "The text still has the expensive model's distribution, so it is no more likely to repeat itself than "
                "before.",
            ),
            right(
                "Its distribution stays the same, but fewer drafts are accepted.",
                "For any q the result is distributed as p. All that a bad draft model costs you is time.",
            ),
        ),
    ),
    FreeText(
        "12.9",
        "My attention is linear now",
        "A friend has replaced plain attention with a tiled kernel and says: “My attention is linear in the length "
        "now, and the approximation hardly hurts.” What do you say?",
        model="Only the memory is linear. Every query is still compared with every key before it, so a text twice "
        "as long takes about four times as long. A tiled kernel is faster because it leaves out the tiles in the "
        "future. It also keeps each tile of scores in fast memory, while the plain formula writes whole tables to slow "
        "memory. And nothing is approximated: the maximum and the sums are updated with every tile, so the result is "
        "that of the plain formula, up to rounding. A sliding window can make the time linear, but it leaves keys out, "
        "so the result is different.",
        points=(
            "The memory is linear, but the time is still quadratic.",
            "It is exact: online softmax rescales its sums whenever the maximum rises.",
            "A sliding window can make the time linear, but it changes the result.",
        ),
    ),
)
