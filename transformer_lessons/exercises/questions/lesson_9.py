"""Questions of lesson 9: byte pairs, in the order in which they are met."""

from transformer_lessons.exercises.questions.question import FreeText, Number, OneOf, SeveralOf, right, wrong

QUESTIONS = (
    Number(
        "9.1",
        "Bytes of a text",
        "In UTF-8, an ASCII character takes one byte, é takes two, and an emoji such as 🚲 takes four. How many bytes "
        "does the text “né 🚲” take?",
        right=8,
        why="n and the space take one byte each, é takes two and the emoji four: 1 + 2 + 1 + 4 = 8.",
        slips={
            4: "That is the number of characters. How many bytes does each take?",
            5: "The emoji alone takes four bytes.",
            7: "Did you count é as one byte, or forget the space?",
            16: "That would be four bytes for each character. ASCII characters and é take fewer.",
        },
        pointer="Add up the bytes of the four characters; the space is one of them.",
    ),
    Number(
        "9.2",
        "A pair in banana",
        "The word banana occurs 3 times in a text, and there are no other words. How many times does the letter "
        "n come directly after a in this text?",
        right=6,
        why="In banana, a is followed by n twice (letters 2 and 3, then 4 and 5), and the word occurs 3 times: "
        "2 × 3 = 6.",
        slips={
            2: "That is the count in one word, but the word occurs 3 times.",
            3: "The pair occurs more than once in the word.",
            12: "That is (a, n) and (n, a) together. They are two different pairs.",
            5: "That is the total number of pairs in one word.",
        },
        pointer="Count the places in one word, then multiply by how often the word occurs.",
    ),
    OneOf(
        "9.3",
        "The first merge",
        "Another text consists of the words newest (6 times), widest (3 times) and low (5 times). Which pair is merged "
        "first, if ties go to the larger pair?",
        (
            wrong("(e, s)", "It occurs 9 times, but so does another pair, which is larger."),
            wrong("(w, e)", "It occurs only 6 times, in newest. Which pairs occur in two of the words?"),
            right(
                "(s, t)",
                "(e, s) and (s, t) both occur 6 + 3 = 9 times. As a byte, s is larger than e, so (s, t) is the larger "
                "pair.",
            ),
            wrong("(l, o)", "It occurs only 5 times, in low."),
        ),
    ),
    OneOf(
        "9.4",
        "Merging without splitting",
        "We treat a play as one long list of bytes, without splitting it into words, and learn merges from it. What do "
        "most of the first ten merges have in common?",
        (
            right(
                "They contain a space or a line break.",
                "The space is by far the most frequent byte, so letters that often end or begin a word are joined "
                "to it.",
            ),
            wrong(
                "They lie inside words.",
                "Some do, such as “th”. But the most frequent byte of all is the space, which stands between words.",
            ),
            wrong(
                "They are whole words, such as “the”.",
                "The first merges mostly make pieces of words: even a three-letter word takes at least two merges.",
            ),
            wrong(
                "They are doubled letters, such as “ll”.",
                "Doubled letters are rarer than “e” followed by a space.",
            ),
        ),
    ),
    Number(
        "9.5",
        "The size of a vocabulary",
        "A byte-level tokenizer has 1,000 merges and one special token for the end of a text. How many ids does it "
        "have?",
        right=1257,
        why="There are 256 bytes, 1,000 merges and one special token, so there are 1,257 ids. GPT-2 has "
        "256 + 50,000 + 1 = 50,257.",
        slips={
            1001: "The 256 bytes are tokens too: without them, a rare character could not be written.",
            1256: "The special token has an id as well.",
            1000: "That counts only the merges. What are the merges made from?",
            1129: "A byte has 256 possible values, not 128.",
        },
        pointer="Every merge makes one token. What was there before the first merge?",
    ),
    OneOf(
        "9.6",
        "Which pair first",
        "Two merges have been learned: rank 0 is (n, g), rank 1 is (i, n). How are the bytes i, n, g tokenized?",
        (
            wrong(
                "in, g",
                "The pair (i, n) comes first in the word, but only the rank matters, and (n, g) has the lower rank.",
            ),
            wrong("ing", "That would take a third merge, of i and ng, but there is no such merge."),
            wrong("i, n, g", "Both pairs of neighbours have a rank, so one of them is merged."),
            right("i, ng", "(n, g) has rank 0, so it is merged first. That leaves (i, ng), which has no rank."),
        ),
    ),
    SeveralOf(
        "9.7",
        "A tokenizer trained on English",
        "A byte-level tokenizer has been trained only on English text. Which of these are true?",
        (
            right(
                "It can encode any text in any language.",
                "Every text can be written as bytes, and every byte is a token.",
            ),
            wrong(
                "Every token is one or more whole characters.",
                "A token is a run of bytes. It may be one byte of a Chinese character, or end in the middle of an "
                "emoji.",
            ),
            right(
                "Chinese text takes more tokens per character than English.",
                "Most Chinese characters take three bytes. English text has no such characters to learn merges from, "
                "so each of these bytes remains a token of its own.",
            ),
            wrong(
                "It needs a token for unknown characters.",
                "It needs none: any character can be written in bytes, so nothing is unknown.",
            ),
            right(
                "Encoding a text and decoding the ids gives the same text back.",
                "The tokens are runs of the text's bytes, in order. Joined together, they give the text.",
            ),
        ),
    ),
    OneOf(
        "9.8",
        "A smaller loss",
        "On the same text, a model whose tokens are single bytes has a loss of 0.5 nats per token, and a model "
        "with 1,000 merges has a loss of 1.4. The second model's tokens are 3.7 bytes long on average. Which model is "
        "better?",
        (
            wrong(
                "The one with bytes: its loss is lower.",
                "It pays 0.5 nats for each byte, but the other model pays only 1.4 nats for 3.7 bytes.",
            ),
            right(
                "The one with merges.",
                "1.4 nats for 3.7 bytes is 0.38 nats per byte, less than 0.5. Losses per byte or per character "
                "can be compared; losses per token cannot.",
            ),
            wrong(
                "Neither: the vocabularies differ, so nothing can be compared.",
                "Both models assign a probability to the whole text. Divide each model's total loss by the same number "
                "of bytes.",
            ),
            wrong(
                "They are equally good.",
                "For 3.7 bytes, the first model pays 0.5 × 3.7 = 1.85 nats, but the second pays only 1.4.",
            ),
        ),
    ),
    OneOf(
        "9.9",
        "Half an emoji",
        "A model writes an emoji as two tokens of two bytes each. A program decodes each token on its own, "
        "and � stands for bytes that do not form a character. What does the reader see?",
        (
            wrong(
                "The emoji, as soon as the second token arrives",
                "Each token is decoded on its own, and what has already been printed stays there.",
            ),
            wrong(
                "Nothing for the first token, the emoji for the second",
                "Each token is decoded as it arrives, without waiting for the next one.",
            ),
            wrong("An error", "Bytes that do not form a character are shown as �, without an error."),
            right(
                "Only �",
                "Neither half is a whole character, so each half becomes one or more �.",
            ),
        ),
    ),
    FreeText(
        "9.10",
        "Why neither characters nor words",
        "Why do most language models use byte pair encoding rather than characters or whole words? What does a larger "
        "vocabulary buy you, and what does it cost?",
        model="No list of words is complete, and many words are too rare to learn well. Characters can "
        "spell any word, but sequences are long. Byte pair encoding lies in between: a frequent word is one token, a "
        "rare one is split into several, and bytes can spell anything. A larger vocabulary makes sequences shorter, "
        "so each training step sees more text. It costs a vector for each token and a larger softmax, and rare tokens "
        "get little training.",
        points=(
            "Nothing is unknown, and frequent words are single tokens.",
            "With more merges, more text fits into the same context.",
            "The price is more vectors and a larger softmax.",
        ),
    ),
)
