"""Questions of lesson 5: positional encoding, in the order in which they are met."""

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
    OneOf(
        "5.1",
        "Dog bites man, man bites dog",
        "A self-attention layer without positions reads “dog bites man”, then “man bites dog”. How do its two "
        "outputs for “dog” compare?",
        (
            wrong(
                "They differ, because “dog” is in a different place.",
                "The position of a token appears nowhere in the formula, so it cannot change the output. We would have "
                "to put it in.",
            ),
            wrong(
                "The output for “dog” is now what the output for “man” was.",
                "The query for “dog” is made from the vector of “dog”. When “dog” moves to another row, its output "
                "moves with it.",
            ),
            right(
                "They are the same.",
                "Both sentences consist of the same three vectors, and their order plays no part in the weights. So "
                "the layer cannot know who bites whom.",
            ),
            wrong(
                "It depends on the learned projections.",
                "Whatever W_Q, W_K and W_V are, they turn equal vectors into equal vectors.",
            ),
        ),
    ),
    Number(
        "5.2",
        "The length of an encoding",
        "What is the squared length of a sinusoidal encoding with d_model = 512?",
        right=256,
        why="There are 256 pairs of a sine and a cosine, and sin² + cos² = 1 in each. Every position's "
        "encoding has the same length, √256 = 16.",
        slips={
            512: "You counted 1 for each feature, but it takes a sine and a cosine together to make 1.",
            1: "This is the squared length of one pair. The vector has many pairs.",
            16: "This is the length. The question asks for its square.",
        },
        pointer="Pair each sine with the cosine of the same angle, and use sin² + cos² = 1.",
        tolerance=0.5,
    ),
    OneOf(
        "5.3",
        "Dot products of positions",
        "PE(p) is the sinusoidal encoding of position p. Which dot product equals PE(3) · PE(7)?",
        (
            right(
                "PE(10) · PE(14)",
                "Each pair of features contributes cos(ωp)cos(ωq) + sin(ωp)sin(ωq) = cos(ω(p - q)). So only the "
                "distance counts, and here it is 4 again.",
            ),
            wrong(
                "PE(3) · PE(8)",
                "The first position is the same, but the second has moved on by one, so every hand of its clock "
                "has turned.",
            ),
            wrong(
                "PE(0) · PE(21)",
                "It is true that 3 × 7 = 21, but the dot product never multiplies the positions themselves. It "
                "multiplies the sines and cosines of their angles.",
            ),
            wrong(
                "PE(5) · PE(5)",
                "It is true that 5 is the mean of 3 and 7, but the mean plays no part. The dot product of an "
                "encoding with itself is the largest of all, d_model/2.",
            ),
        ),
    ),
    OneOf(
        "5.4",
        "Five positions on",
        "Is there a matrix M such that PE(p + 5) = M PE(p)?",
        (
            wrong(
                "Yes, but each position p needs its own M.",
                "Compare the angles at p and at p + 5: the difference does not depend on p.",
            ),
            right(
                "Yes, and the same M works for every position.",
                "Moving on by five positions turns a hand of frequency ω by the angle 5ω, whichever way the hand "
                "points. M is made of 2 × 2 rotations, and its transpose takes you five positions back.",
            ),
            wrong(
                "Yes, but no matrix takes you five positions back.",
                "A clock's hands can be turned back as well as forward, by a matrix of the same kind.",
            ),
            wrong(
                "No, because sine and cosine are not linear.",
                "They are not linear in p. But once b is fixed, sin(a + b) is a linear combination of sin(a) "
                "and cos(a).",
            ),
        ),
    ),
    OneOf(
        "5.5",
        "Scaling the embeddings",
        "The 512 features of an embedding are drawn with standard deviation 1/√512, and a sinusoidal encoding "
        "has length 16. Before the encoding is added, the embedding is multiplied by √512. What does this factor do?",
        (
            wrong(
                "It gives the dot products of embeddings a variance of 1.",
                "Keeping the variance of dot products near 1 is the job of the scaling inside attention, which "
                "divides the scores. Here it is the embedding that is multiplied.",
            ),
            wrong(
                "It undoes attention's division by √d_k.",
                "d_k is the width of one head, and the division comes after W_Q and W_K. The two factors "
                "are in different places.",
            ),
            right(
                "It takes the embedding's length from about 1 to about 23, more than the encoding's 16.",
                "Without the factor, the position would outweigh the word. Embeddings that start with "
                "standard deviation 1, as nn.Embedding's do by default, have a length of about 23 anyway.",
            ),
            wrong(
                "It gives the sum of embedding and encoding a length of 1.",
                "A factor above 1 makes vectors longer. Normalising lengths is the job of layer norm, in lesson 7.",
            ),
        ),
    ),
    OneOf(
        "5.6",
        "A position beyond the table",
        "nn.Embedding(64, d_model) holds learned vectors for positions 0 to 63. What do you get for position 64?",
        (
            wrong(
                "A vector that continues the pattern",
                "A formula would continue the pattern, but a table of learned vectors has no rule for what comes after "
                "its last row.",
            ),
            wrong("The vector of position 0", "An index beyond the end of the table does not wrap around."),
            wrong(
                "A vector of zeros",
                "A vector of zeros would be a row like any other, and there is no such row.",
            ),
            right(
                "An IndexError",
                "There is no row 64. Sinusoids and rotary positions can be computed for any position, although a "
                "model trained on shorter texts may do badly at later positions.",
            ),
        ),
    ),
    OneOf(
        "5.7",
        "Rotary positions",
        "Rotary positions turn each query and each key by angles proportional to its position. A query and a key "
        "move from positions 3 and 7 to positions 103 and 107. What happens to their score?",
        (
            right(
                "It stays the same.",
                "Both are turned further by the same angles, and turning two vectors together leaves their "
                "dot product unchanged. Only the difference between the positions counts.",
            ),
            wrong(
                "It gets smaller, because both are far from the start.",
                "A rotation keeps the length of a vector, however far it turns. Being far from the start "
                "costs nothing.",
            ),
            wrong(
                "It is 100 times as large.",
                "Here the positions only set the angles. They do not multiply the vectors.",
            ),
            wrong(
                "It changes, by an amount that depends on the two vectors.",
                "The score itself does depend on the vectors. But to see whether it changes, compare the angle "
                "between query and key in each pair, before and after.",
            ),
        ),
    ),
    Number(
        "5.8",
        "The path through a recurrence",
        "An LSTM reads 100 tokens. How many steps does the recurrence take to get from its state after the "
        "first token to its state after the last?",
        right=99,
        why="Each further token updates the state once, and each update can weaken what is left of the "
        "first token. In self-attention, one step leads from any token to any other.",
        slips={
            100: "This counts from the empty state before the first token.",
            1: "This is the path in self-attention, where each token looks at every other directly.",
            0: "The last state is made from the state before it, and so on back to the first: there are "
            "steps in between.",
        },
        pointer="Try it with three tokens, and draw the arrows from state to state.",
    ),
    SeveralOf(
        "5.9",
        "Attention compared with an LSTM",
        "Which of these are true of a self-attention layer, compared with an LSTM layer?",
        (
            right(
                "In training, it can compute all positions at the same time.",
                "No position waits for the result of another, whereas an LSTM's state needs the state before it.",
            ),
            wrong(
                "Its cost grows more slowly with the length of the sequence.",
                "It has a score for every pair of tokens, so twice the length means four times as many "
                "scores. An LSTM needs only twice as many steps.",
            ),
            right(
                "Any token can reach any other in one step.",
                "Every pair of tokens has a weight of its own, so the gradient's path is equally short at "
                "every distance.",
            ),
            wrong(
                "Even without positions, it knows which token comes first.",
                "An LSTM does, since it reads in order. Attention can tell only if it is given positions or a mask.",
            ),
            wrong(
                "When a model generates text, the layer computes all the new tokens at the same time.",
                "The layer cannot attend to a token that has not been generated yet. A language model generates "
                "one token at a time, whichever of the two layers it is built from.",
            ),
        ),
    ),
    Number(
        "5.10",
        "The slowest hand in a loop",
        "With d_model = 8, the lowest frequency should be 10000^(-6/8) = 0.001 radians per position. What is "
        "the last frequency in this loop?\n"
        "    for i in range(0, 8, 2):\n"
        "        frequency = 10000 ** (-2 * i / 8)",
        right=1e-6,
        why="The loop counts in twos, so its i is already the 2i of the formula. The exponent doubles it again, "
        "so the last frequency is 10000^(-12/8), a thousand times too low. Yet no error is raised.",
        slips={
            1e-3: "This is the frequency that we want. Which one does the loop compute? Put the last value of i "
            "into the line that computes the frequency.",
            1e-4: "This is the frequency at i = 4, but i goes on to 6.",
            1e-8: "This would be the frequency at i = 8, but range(0, 8, 2) ends before 8.",
        },
        pointer="What is the last i in range(0, 8, 2)? Put it into the exponent as it is written.",
        tolerance=5e-9,
    ),
    Shape(
        "5.11",
        "An array filled number by number",
        "What shape does sines have at the end?\n"
        "    sines = np.array([])\n"
        "    for p in range(10):\n"
        "        np.append(sines, np.sin(p))",
        right=(0,),
        why="np.append returns a new array and leaves its argument alone, and here the new array is "
        "thrown away. The old one is still as empty as before the loop.",
        slips={
            (10,): "This is what the loop is meant to do, and what a list's append would do. Look up what "
            "np.append returns.",
            (1,): "This is what np.append returns each time. Where does that array go?",
        },
        pointer="Which line of the loop changes sines?",
    ),
    FreeText(
        "5.12",
        "Self-attention compared with an RNN or LSTM",
        "How does self-attention differ from an RNN or an LSTM? What does it gain, and at what price?",
        model="An RNN carries all it has read in one state of fixed size, which it updates at every token. What "
        "it took in from the first of 100 tokens must survive 99 updates, and gradients tend to fade on the "
        "way back (an LSTM's gates can slow this down). Attention keeps a vector for every token, and each "
        "token looks at all others directly. So a gradient has only one step to go, and all positions are "
        "computed at once. The price is a table of weights that grows with the square of the length, whereas "
        "the work of an RNN grows in proportion to the length.",
        points=(
            "An RNN has one state of fixed size, and attention has a vector for every token.",
            "In an RNN, the path between two tokens is as long as their distance. In attention it is 1.",
            "Attention is parallel in training, but its cost is quadratic in the length.",
        ),
    ),
    FreeText(
        "5.13",
        "Order without recurrence",
        "A Transformer has no recurrence over tokens. What takes its place, and what tells the model in "
        "which order its tokens come?",
        model="No state is passed from token to token. Instead, each layer's attention lets every token look at the "
        "others, all at the same time. The order has to be supplied: an encoding is added "
        "to each embedding, queries and keys are rotated by position, or scores are lowered in proportion to "
        "the distance. In a model that generates text, a causal mask (lesson 6) adds direction, because a "
        "token sees only itself and those before it. One loop over time remains, but it is outside the model: "
        "each token that the model generates becomes part of its next input.",
        points=(
            "Order comes from positions. Without positions or a mask, attention sees a bag of words.",
            "In a model that generates text, direction comes from a mask (lesson 6).",
            "Recurrence remains only in generation, where each output becomes part of the next input.",
        ),
    ),
)
