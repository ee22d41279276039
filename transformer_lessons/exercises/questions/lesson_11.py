"""Questions of lesson 11: how to find out what a model has learned, in the order in which they are met."""

from transformer_lessons.exercises.questions.question import FreeText, Number, OneOf, right, wrong

QUESTIONS = (
    Number(
        "11.1",
        "Where the answer is",
        "Take the text 5 2 9 8 5 2 9, with positions counted from 0. To predict the next token, a head's query "
        "at the last 9 should attend to the token that came after the earlier 9. At which position is that token?",
        right=3,
        why="The earlier 9 is at position 2, and the 8 at position 3 came after it. So the next token is 8.",
        slips={
            2: "That is the earlier 9 itself. What came next is one place further on.",
            5: "That is the token before the last 9. It says what came before, not what comes next.",
            6: "That is the last 9 itself.",
            1: "That is the 2, which comes before the earlier 9.",
            8: "That is the token itself. At which position is it?",
        },
        pointer="Find the earlier 9, and take one step to the right.",
    ),
    OneOf(
        "11.2",
        "Which head comes first",
        "Layer 0's head has to note which token came before, and layer 1's head has to look for these notes. "
        "When we train on our rows, which of the two heads learns its job first?",
        (
            wrong(
                "Layer 0's, because layer 1 builds on it",
                "On random tokens, a note that nobody reads is no help, so hardly any gradient "
                "pushes the head to write one.",
            ),
            wrong(
                "Layer 1's, because it is nearer to the loss",
                "At first there are no notes for it to find, so looking for them does not lower the loss.",
            ),
            right(
                "Neither: they learn together",
                "Each job is useful only together with the other, so as one head improves, the other's gradient "
                "grows. That is why neither score moves for a while, and then both rise together.",
            ),
            wrong(
                "It depends on the random seed",
                "Other seeds give the same picture, because neither job is any use on its own.",
            ),
        ),
    ),
    OneOf(
        "11.3",
        "One layer of attention",
        "The period differs from row to row. Can a single layer of attention, with one head, learn to continue such "
        "rows?",
        (
            wrong(
                "Yes, if it is trained for long enough",
                "Training changes what a key says about its own token and position, but neither of these says which "
                "token came before.",
            ),
            right(
                "No: a key does not know which token came before it",
                "In the first layer a key is made from its own token and position alone, so no query can find it by "
                "the token before it. That leaves only the positions, and with one head they are not enough if the "
                "period varies.",
            ),
            wrong(
                "Yes, if its vectors are wide enough",
                "Wider vectors have more room, but however wide they are, nothing puts into them which token came "
                "before.",
            ),
            wrong(
                "No: a single layer cannot copy tokens",
                "It can copy, because its value and output projections can carry a token's vector unchanged. What it "
                "cannot do is find the place to copy from.",
            ),
        ),
    ),
    OneOf(
        "11.4",
        "A friend's one-layer model",
        "A friend has a one-layer model with one head, and it repeats blocks of random tokens without a mistake. "
        "How did its training data differ from ours?",
        (
            right(
                "All rows repeated after the same number of tokens.",
                "Then the answer is always the same distance back, so positions alone say where to look. The model "
                "need not look anything up, and one layer is enough.",
            ),
            wrong(
                "The rows were longer.",
                "Longer rows repeat more often, but a key still does not know what came before it.",
            ),
            wrong(
                "The vocabulary was larger.",
                "A larger vocabulary makes guessing harder, but it does not tell the model where to look.",
            ),
            wrong(
                "There were far more rows.",
                "However many rows there are, a key still does not know what came before it.",
            ),
        ),
    ),
    OneOf(
        "11.5",
        "Without the note",
        "Layer 0's head is silenced, and layer 1's is left as it is. What happens to layer 1's head?",
        (
            wrong(
                "It looks at the right places, but copies the wrong tokens.",
                "Wherever the head looks, it copies the token there, and that token is still in the stream. "
                "Only the notes that its queries look for are missing.",
            ),
            right(
                "It no longer finds the right places.",
                "Its queries look for layer 0's notes in the keys. Without the notes there is nothing to find.",
            ),
            wrong(
                "Nothing: it is in another layer.",
                "It reads the stream, and layer 0 adds its notes to the stream. When layer 0 is silent, layer 1 reads "
                "something else.",
            ),
            wrong(
                "Its weights no longer sum to 1.",
                "They still come out of a softmax, so they sum to 1 whatever the scores are. What changes is which "
                "tokens get the weight.",
            ),
        ),
    ),
    OneOf(
        "11.6",
        "Two heads that copy",
        "Layer 1's head raises the logit of the token that it attends to. Is that what makes it an induction head?",
        (
            wrong(
                "Yes: no other kind of head copies.",
                "A head that attends to the token before the current one, and copies it, is not an induction head. "
                "Layer 0's head does just that: see its copying score below.",
            ),
            wrong(
                "Yes, if all eigenvalues of its matrix are positive.",
                "The eigenvalues tell us that a head copies, but not where it copies from. Layer 0's head has a "
                "copying score near 1, too.",
            ),
            wrong(
                "No: an induction head must lower that logit.",
                "Then the token that followed last time would become less likely. It should become more likely.",
            ),
            right(
                "No: where it attends matters, too.",
                "One circuit decides what a head carries over, and another decides where it looks. An induction head "
                "copies, and it looks at what came after an earlier occurrence of the current token.",
            ),
        ),
    ),
    Number(
        "11.7",
        "Which position restores the answer",
        "The clean text is a block of 12 tokens followed by its first 6, so its 18 positions run from 0 to 17. "
        "In the corrupted text, the token at position 5 has been replaced. You may copy layer 0's output from the "
        "clean run into the corrupted run at one position only. Which position lets the model predict what comes "
        "after position 17?",
        right=6,
        why="Position 17 holds the block's token 5, and the answer is the block's token 6, which is at position 6. "
        "There layer 0 notes what came before, and that note is what the last query looks for.",
        slips={
            5: "That is the corrupted token itself. Layer 0 notes a token at the position after it, so the wrong note "
            "is one position further on.",
            17: "That is where the answer is needed. But layer 1's query there needs only the current token, which is "
            "the same in both texts.",
            4: "Up to this position the two texts are the same, so there is nothing to repair.",
            16: "The tokens after the first block are the same in both texts, so the note here needs no repair.",
        },
        pointer="At which position does layer 0 write the note “token 5 of the block came before”?",
    ),
    OneOf(
        "11.8",
        "The lens before the last layer",
        "You apply the lens to our two-layer model after layer 0, as if layer 0 were the last layer. How many of the "
        "predictable tokens does it get right?",
        (
            right(
                "Hardly more than before layer 0",
                "Layer 0 adds a note for layer 1 to find. Read as a prediction, it is nearly always wrong.",
            ),
            wrong(
                "About half of them, because half of the work is done",
                "Doing half of the work does not give half of the answers, because nothing has been looked up yet.",
            ),
            wrong(
                "Nearly all of them, because layer 1 only copies",
                "Layer 1 first has to find the place. Before it has run, the next token is not in the current "
                "position's vector.",
            ),
            wrong(
                "None, not even by chance",
                "A few are right by chance: there are only 32 tokens to choose from.",
            ),
        ),
    ),
    OneOf(
        "11.9",
        "A passage read twice",
        "The Shakespeare model reads a passage of 64 tokens, and then the same passage again, word for word. How much "
        "does the second reading cost, in nats per token, compared with the first?",
        (
            wrong(
                "Nearly nothing: it can copy",
                "To copy, it would have to find what followed last time, and none of its heads looks there.",
            ),
            wrong(
                "About half",
                "To save half, it would have to look up much of the passage, and none of its heads does that.",
            ),
            right(
                "About the same",
                "It has no induction heads, so it cannot look up what followed last time. Having read the passage "
                "once helps it only a little.",
            ),
            wrong(
                "Twice as much, because it is confused",
                "A repeated passage is still text of the kind that the model has learned, so it costs about as much "
                "as other text of this kind.",
            ),
        ),
    ),
    FreeText(
        "11.10",
        "No head matters, so attention does not matter",
        "Silencing any one of the 24 heads of layers 1 to 3 costs the model next to nothing. Someone "
        "concludes that attention hardly matters in these layers. What do you say?",
        model="Each head was silenced while all the others were there, so the small costs cannot just be added up. "
        "Silencing all 24 heads at once costs more than twice what they cost one by one. It can also be the other way "
        "round: in a chain of two heads, silencing either one ruins the model. So silence groups as well as "
        "single heads, and say which text you used, and what you put in the heads' place.",
        points=(
            "An ablation shows what is missing while the rest is there; costs cannot just be added up.",
            "Silencing all these heads at once is a different experiment, with a different result.",
            "The claim must name the text, and what was put in the heads' place.",
        ),
    ),
)
