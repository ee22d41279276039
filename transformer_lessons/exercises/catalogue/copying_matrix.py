"""copying_matrix, of lesson 11: how a head that attends to a token changes every logit."""

import torch
import torch.nn.functional as F

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal
from transformer_lessons.inspection import experiments


def draw(generator, vocabulary, num_heads, d_head, head):
    """Two tables (vocabulary, d_model), an attention with biases, all of unit scale, and the number of a head."""
    d_model = num_heads * d_head
    attention = MultiHeadAttention(d_model, num_heads, dropout=0.0).double()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.copy_(normal(generator, *parameter.shape))
    return normal(generator, vocabulary, d_model), attention.eval(), normal(generator, vocabulary, d_model), head


exercise = Exercise(
    name="copying_matrix",
    lesson=11,
    title="A head as a token-by-token table",
    difficulty=3,
    importance=2,
    minutes=12,
    contract="""
        copying_matrix(embedding, attention, unembedding, head) returns the float matrix W_U W_O W_V W_E of one head, of
        shape (vocabulary, vocabulary): row i, column j is how much the head adds to the logit of token i when it
        attends to token j alone. embedding is the table (vocabulary, d_model) whose row j is the vector of token j;
        unembedding is the table (vocabulary, d_model) whose row i scores token i; they are two different tables.
        attention is a MultiHeadAttention from the package, with attention.linear_v, attention.linear_out,
        attention.num_heads and attention.d_model; head is counted from 0. Head h owns d_head = d_model / num_heads
        features, starting at index h · d_head, both in the output of linear_v and in the input of linear_out. Biases,
        norms and positions are left out.
        """,
    stub='''
        def copying_matrix(embedding, attention, unembedding, head):
            """(vocabulary, vocabulary): row i, column j is what attending to token j adds to the logit of token i."""
            raise NotImplementedError
        ''',
    sizes=[
        {"vocabulary": 3, "num_heads": 2, "d_head": 2, "head": 1},
        {"vocabulary": 5, "num_heads": 3, "d_head": 2, "head": 1},
        {"vocabulary": 7, "num_heads": 2, "d_head": 4, "head": 0},
        {"vocabulary": 4, "num_heads": 4, "d_head": 3, "head": 2},
        {"vocabulary": 6, "num_heads": 3, "d_head": 3, "head": 1},
        {"vocabulary": 6, "num_heads": 2, "d_head": 3, "head": 1},
        {"vocabulary": 8, "num_heads": 1, "d_head": 5, "head": 0},
    ],
    draw=draw,
    reference=lambda embedding, attention, unembedding, head: experiments.copying_matrix(
        embedding, attention, unembedding, head
    ),
    returns="matrix",
    shapes={"matrix": "(vocabulary, vocabulary)"},
    names_steps=False,
    hints=[
        (
            "what a token's vector goes through",
            "Follow one token's vector x as a column: this head's W_V turns it "
            "into d_head numbers, its W_O turns those into d_model numbers, and W_U turns these into a logit for each "
            "token. Now put all tokens side by side as columns: that is W_E. What shape does each of the four have?",
        ),
        (
            "the slices",
            "nn.Linear keeps its weight as (out, in) and computes weight @ x. A head's features are what "
            "comes out of linear_v, and what goes into linear_out. So are they rows or columns of each weight?",
        ),
        (
            "which way round",
            "The rows of the result stand for the tokens whose logits change, and its columns for "
            "the tokens attended to. The four factors fit if their shapes are (vocabulary, d_model), (d_model, "
            "d_head), (d_head, d_model) and (d_model, vocabulary). Which of the tables must be transposed?",
        ),
    ],
    solution="""
        def copying_matrix(embedding, attention, unembedding, head):
            d_head = attention.d_model // attention.num_heads
            own = slice(head * d_head, (head + 1) * d_head)
            reads = attention.linear_v.weight[own]  # (d_head, d_model)
            writes = attention.linear_out.weight[:, own]  # (d_model, d_head)
            return unembedding @ writes @ reads @ embedding.T
        """,
)


@exercise.right("step by step")
class Copying(Steps):
    def __call__(self, embedding, attention, unembedding, head):
        own = self.own(head, attention.num_heads, attention.d_model // attention.num_heads)
        reads, writes = self.reads(attention, own), self.writes(attention, own)
        embedding, unembedding = self.tables(embedding, unembedding)
        return self.handed(self.product(unembedding, writes, reads, embedding), attention, embedding, unembedding)

    def own(self, head, num_heads, d_head):
        return torch.arange(head * d_head, (head + 1) * d_head)

    def reads(self, attention, own):
        return attention.linear_v.weight[own]  # (d_head, d_model)

    def writes(self, attention, own):
        return attention.linear_out.weight[:, own]  # (d_model, d_head)

    def tables(self, embedding, unembedding):
        return embedding, unembedding

    def product(self, unembedding, writes, reads, embedding):
        return unembedding @ (writes @ reads) @ embedding.T

    def handed(self, matrix, attention, embedding, unembedding):
        return matrix


def sliced(product):
    """A product of the two tables, the weights of linear_v and linear_out, and the head's slice."""

    def answer(embedding, attention, unembedding, head):
        d_head = attention.d_model // attention.num_heads
        own = slice(head * d_head, (head + 1) * d_head)
        return product(embedding, unembedding, attention.linear_v.weight, attention.linear_out.weight, own)

    return answer


def every_feature(num_heads, d_head):
    return torch.arange(num_heads * d_head)


# The slices
mistake = exercise.section(hint=2)
OUT_IN = (
    "nn.Linear keeps its weight as (out, in), so each row makes one output. In each weight, is a head's slice "
    "made of rows or of columns?"
)
mistake(
    "all heads at once",
    pairs=1,
    why="No head is singled out: the matrix is that of all heads together.",
    look="where does `head` appear in your code?",
    own=every_feature,
)
mistake(
    "the rows of W_O",
    pairs=2,
    why="The head's slice of linear_out.weight is cut from the rows, not from the "
    "columns. But what the head outputs is an input of linear_out.",
    look=OUT_IN,
    writes=[lambda attention, own: attention.linear_out.weight[own].T],
)
mistake(
    "the columns of W_V",
    pairs=2,
    why="The head's slice of linear_v.weight is cut from the columns, not from the "
    "rows. But the head's values are an output of linear_v.",
    look=OUT_IN,
    reads=[lambda attention, own: attention.linear_v.weight[:, own].T],
)
mistake(
    "rows of W_O and columns of W_V",
    pairs=1,
    why="Both weights are sliced the wrong way, as if nn.Linear kept them as (in, out).",
    look=OUT_IN,
    variants=[
        {
            "reads": lambda attention, own: attention.linear_v.weight[:, own].T,
            "writes": lambda attention, own: attention.linear_out.weight[own].T,
        }
    ],
)
mistake(
    "all heads at once, from weights transposed",
    pairs=0,
    why="No head is singled out: the matrix is that of all "
    "heads together. Besides, the weight of linear_v, of linear_out or of both is the wrong way round in the product: "
    "nn.Linear keeps its weight as (out, in).",
    look="where does `head` appear in your code? " + OUT_IN,
    variants=[
        {"own": every_feature, "reads": lambda attention: attention.linear_v.weight.T},
        {"own": every_feature, "writes": lambda attention: attention.linear_out.weight.T},
        {
            "own": every_feature,
            "reads": lambda attention: attention.linear_v.weight.T,
            "writes": lambda attention: attention.linear_out.weight.T,
        },
    ],
)
mistake(
    "the next head",
    pairs=0,
    why="The features are those of the next head.",
    look="which features does head 0 own?",
    own=[
        lambda right, num_heads, d_head: (right + d_head) % (num_heads * d_head),
        lambda right, num_heads, d_head: right[right < (num_heads - 1) * d_head] + d_head,
    ],
)
mistake(
    "the head before",
    pairs=1,
    why="The features are those of the previous head, as if heads were counted from 1.",
    look="which features does head 1 own: the first d_head or the next?",
    own=[
        lambda right, num_heads, d_head: (right - d_head) % (num_heads * d_head),
        lambda head, d_head: torch.arange(max(0, head - 1) * d_head, head * d_head),
    ],
)
mistake(
    "the first head's slice",
    pairs=0,
    why="In one of the two weights, or in both, the slice is that of the first head, whatever `head` is.",
    look="does `head` appear in both slices?",
    writes=lambda attention, own: attention.linear_out.weight[:, : len(own)],
    reads=lambda attention, own: attention.linear_v.weight[: len(own)],
    own=lambda d_head: torch.arange(d_head),
)
mistake(
    "slices of two heads",
    pairs=0,
    why="The two weights are sliced for two different heads: one for the head "
    "itself, the other for the head before or after it.",
    look="do both weights use the same slice?",
    writes=[
        lambda attention, own, by=by: attention.linear_out.weight[:, (own + by * len(own)) % attention.d_model]
        for by in (1, -1)
    ],
    reads=[
        lambda attention, own, by=by: attention.linear_v.weight[(own + by * len(own)) % attention.d_model]
        for by in (1, -1)
    ],
)
mistake(
    "every head's matrix",
    pairs=0,
    why="The matrices of all heads come back, but the exercise asks for that of a single head.",
    look="where does `head` appear in your code?",
    variants=[
        lambda embedding, attention, unembedding, head, dim=dim: torch.stack(
            [Copying()(embedding, attention, unembedding, other) for other in range(attention.num_heads)], dim
        )
        for dim in (0, 1, 2)
    ],
)
mistake(
    "the tokens' vectors cut",
    pairs=0,
    why="Only the head's slice of features is used: of the tokens' vectors, of "
    "what the head writes to the stream, or of both. But a head reads and writes whole vectors.",
    look="what shape should a head's slice of each weight have? And do you cut the factors, or their product?",
    variants=[
        sliced(lambda e, u, v, o, own: u[:, own] @ (o @ v)[own, own] @ e[:, own].T),
        sliced(lambda e, u, v, o, own: u @ (o @ v)[:, own] @ e[:, own].T),
        sliced(lambda e, u, v, o, own: u[:, own] @ (o @ v)[own] @ e.T),
        sliced(lambda e, u, v, o, own: u[:, own] @ o[own, own] @ v[own, own] @ e[:, own].T),
        sliced(lambda e, u, v, o, own: u @ o[:, own] @ v[own, own] @ e[:, own].T),
        sliced(lambda e, u, v, o, own: u[:, own] @ o[own, own] @ v[own] @ e.T),
    ],
)
mistake(
    "interleaved heads",
    why="Every num_heads-th feature is taken, as if the heads were interleaved. But a head is "
    "a slice of neighbouring features.",
    look="what does split_heads do to the features?",
    own=lambda head, num_heads, d_head: torch.arange(head, num_heads * d_head, num_heads),
)
mistake(
    "one weight interleaved",
    pairs=0,
    why="In one of the two weights, every num_heads-th feature is taken, as if "
    "the heads were interleaved. In the other, the features are neighbours, as they should be.",
    look="do both weights use the same features? If you call view: does num_heads come before d_head?",
    reads=lambda attention, own: attention.linear_v.weight[own[0] // len(own) :: attention.num_heads],
    writes=lambda attention, own: attention.linear_out.weight[:, own[0] // len(own) :: attention.num_heads],
)
mistake(
    "linear_out's rows reshaped",
    pairs=0,
    why="linear_out.weight is reshaped to (num_heads, d_model, d_head). "
    "That keeps its numbers in their old order, so a head gets pieces of rows, where it needs columns.",
    look="reshape puts rows one after the other. Is a head's slice made of rows or of columns?",
    writes=lambda attention, own: attention.linear_out.weight.reshape(attention.num_heads, -1, len(own))[
        own[0] // len(own)
    ],
)
mistake(
    "num_heads for d_head",
    why="The slice is num_heads features wide, or it begins at head · num_heads.",
    look="how many features does a head have?",
    own=[
        lambda head, num_heads: torch.arange(head * num_heads, (head + 1) * num_heads),
        lambda head, num_heads, d_head: torch.arange(head * num_heads, head * num_heads + d_head),
    ],
)
mistake(
    "heads counted from the end",
    pairs=0,
    why="Heads are counted backwards, from the last one.",
    look="which features belong to head 0?",
    own=lambda head, num_heads, d_head: torch.arange(num_heads * d_head).unflatten(0, (num_heads, -1))[-1 - head],
)
mistake(
    "a slice from the wrong place",
    why="The slice for head h begins at feature h, as if each head before it had a single feature.",
    look="at which feature does head 1 begin? And head 2?",
    own=lambda head, d_head: torch.arange(head, head + d_head),
)
mistake(
    "a slice of the wrong width",
    pairs=2,
    why="The slice does not always have d_head features: it starts at 0, "
    "runs to the end, holds a single feature, or is one feature too wide or too narrow.",
    look="at which feature should the slice of head 1 begin, and which should be its last?",
    own=[
        lambda head, num_heads, d_head: torch.arange(head * d_head, num_heads * d_head),
        lambda head, d_head: torch.arange((head + 1) * d_head),
        lambda head, d_head: torch.arange(head, head + 1),
        lambda head, num_heads, d_head: torch.arange(head * d_head, min((head + 1) * d_head + 1, num_heads * d_head)),
        lambda head, d_head: torch.arange(head * d_head, max((head + 1) * d_head - 1, head * d_head + 1)),
    ],
)
mistake(
    "a fixed width",
    pairs=0,
    why="The head's slice has a fixed width, whatever d_head is.",
    look="which number in your slice should come from the attention?",
    own=[
        lambda head, num_heads, d_head, size=size: torch.arange(num_heads * d_head)[head * size : (head + 1) * size]
        for size in (2, 3, 4, 8, 64)
    ],
)
# Which weights
mistake = exercise.section(hint=1)
mistake(
    "keys for values",
    pairs=2,
    why="The weights are those of linear_k or linear_q, which decide where a head "
    "looks. What it fetches from there is made by linear_v.",
    look="which projection makes the vectors that are averaged?",
    reads=[
        lambda attention, own: attention.linear_k.weight[own],
        lambda attention, own: attention.linear_q.weight[own],
    ],
)
mistake(
    "W_O left out",
    pairs=1,
    why="linear_out is missing: the head's values are scored as if they were part of the stream already.",
    look="what does the package's attention do after the average?",
    writes=[lambda attention, own: F.one_hot(own, attention.d_model).to(attention.linear_v.weight.dtype).T],
)
mistake(
    "W_V left out",
    pairs=1,
    why="linear_v is missing: a slice of the token's vector is used as its value.",
    look="what does the package's attention do with a value before the average?",
    reads=[lambda attention, own: F.one_hot(own, attention.d_model).to(attention.linear_v.weight.dtype)],
)
mistake(
    "no attention at all",
    pairs=0,
    why="The tables alone are multiplied: neither linear_v nor linear_out is used.",
    look="in W_U W_O W_V W_E, how many factors are there?",
    product=[
        lambda unembedding, embedding: unembedding @ embedding.T,
        lambda unembedding, embedding: embedding @ unembedding.T,
    ],
)
mistake(
    "the skip connection counted in",
    why="The direct path W_U W_E, through the residual connection, is added; the exercise asks for the head alone.",
    look="how many terms does the exercise's formula have?",
    handed=[lambda matrix, embedding, unembedding: matrix + unembedding @ embedding.T],
)


def with_biases(value, out):
    """The right matrix, with the bias of linear_v, of linear_out or of both added."""

    def matrix(embedding, attention, unembedding, head):
        d_head = attention.d_model // attention.num_heads
        own = slice(head * d_head, (head + 1) * d_head)
        values = embedding @ attention.linear_v.weight[own].T + value * attention.linear_v.bias[own]
        written = values @ attention.linear_out.weight[:, own].T + out * attention.linear_out.bias
        return unembedding @ written.T

    return matrix


mistake(
    "biases counted in",
    pairs=0,
    why="The result includes the bias of linear_v, of linear_out or of both. A bias "
    "adds the same, whichever token is attended to, and the exercise leaves biases out.",
    look="calls of linear_v and linear_out add their biases.",
    variants=[with_biases(1, 0), with_biases(0, 1), with_biases(1, 1)],
)
mistake(
    "biases counted in, and the matrix transposed",
    pairs=0,
    why="The result includes the bias of linear_v, of "
    "linear_out or of both, but the exercise leaves biases out. Besides, the matrix is transposed: its rows stand for "
    "the tokens attended to.",
    look="calls of linear_v and linear_out add their biases. And which table is on the left?",
    variants=[
        lambda *inputs, value=value, out=out: with_biases(value, out)(*inputs).T
        for value, out in ((1, 0), (0, 1), (1, 1))
    ],
)
mistake(
    "where the head looks",
    pairs=0,
    why="The product is made of linear_q and linear_k, as in the QK circuit. "
    "Those two say where a head looks; the exercise asks for what the head then writes.",
    look="which two projections are in your product?",
    variants=[
        lambda embedding, attention, unembedding, head: qk(embedding, attention, embedding, head),
        lambda embedding, attention, unembedding, head: qk(embedding, attention, embedding, head).T,
        lambda embedding, attention, unembedding, head: qk(unembedding, attention, embedding, head),
    ],
)


def qk(queries, attention, keys, head):
    d_head = attention.d_model // attention.num_heads
    own = slice(head * d_head, (head + 1) * d_head)
    return queries @ attention.linear_q.weight[own].T @ attention.linear_k.weight[own] @ keys.T


mistake(
    "the attention run on the tokens",
    pairs=0,
    why="The attention is called on all the tokens, so each one gets "
    "an average over all of them, biases included. The exercise asks for what each token adds when it alone gets all "
    "the weight.",
    look="which tokens does a call of the attention mix?",
    variants=[
        lambda embedding, attention, unembedding, head: unembedding @ attention(*3 * [embedding[None]])[0][0].T,
        lambda embedding, attention, unembedding, head: attention(*3 * [embedding[None]])[0][0] @ unembedding.T,
    ],
)

# The product
mistake = exercise.section(hint=3)
TURNED = "row i stands for the token whose logit changes. Which table should be on the left, and which on the right?"
mistake(
    "rows and columns exchanged",
    why="The matrix is transposed: its rows stand for the tokens attended to, and "
    "its columns for those whose logits change. The eigenvalues are the same, but rows and columns are the wrong way "
    "round.",
    look=TURNED,
    handed=lambda matrix: matrix.T,
)
mistake(
    "the two tables exchanged",
    pairs=1,
    why="The two tables are swapped: the embedding is used where the unembedding belongs, and vice versa.",
    look=TURNED,
    tables=lambda embedding, unembedding: (unembedding, embedding),
)
mistake(
    "one table for both",
    pairs=2,
    why="The same table is used on both sides; embedding and unembedding are "
    "different tables, unless a model ties them.",
    look="where does each of the two tables appear in your code?",
    tables=[lambda embedding: (embedding, embedding), lambda unembedding: (unembedding, unembedding)],
)
mistake(
    "W_V after W_O",
    pairs=1,
    why="The two weights are in the wrong order: the token's vector meets W_O first.",
    look="which of the two does a token's vector meet first?",
    product=[lambda unembedding, writes, reads, embedding: unembedding @ reads.T @ writes.T @ embedding.T],
    variants=[
        sliced(lambda e, u, v, o, own: u @ v[:, own] @ o[own] @ e.T),
        sliced(lambda e, u, v, o, own: u[:, own] @ v[own] @ o[:, own] @ e[:, own].T),
        sliced(lambda e, u, v, o, own: u @ v @ o @ e.T),
    ],
)
mistake(
    "scaled by √d",
    pairs=2,
    why="The matrix is divided by the square root of d_head or d_model, as attention "
    "scores are. But this matrix holds no scores.",
    look="every sqrt: is there one in the exercise's formula?",
    product=[
        lambda right, reads: right / len(reads) ** 0.5,
        lambda right, embedding: right / embedding.shape[1] ** 0.5,
    ],
)
mistake(
    "divided by the number of heads",
    pairs=0,
    why="The matrix is divided by the number of heads, as in a mean "
    "over heads. But what the heads write is added up, and the exercise asks for what one of them adds.",
    look="every division and every mean: is there one in the exercise's formula?",
    handed=lambda matrix, attention: matrix / attention.num_heads,
)
mistake(
    "a softmax",
    pairs=3,
    why="The matrix has gone through a softmax, perhaps with a logarithm; the exercise asks "
    "for what is added to logits.",
    look="is there a softmax in the exercise's formula?",
    product=[lambda right: right.softmax(-1), lambda right: right.softmax(0), lambda right: right.log_softmax(0)],
)
mistake(
    "a mean subtracted",
    pairs=0,
    why="A mean has been subtracted; the exercise asks for the product as it is.",
    look="every subtraction: is there one in the exercise's formula?",
    product=[
        lambda right: right - right.mean(0),
        lambda right: right - right.mean(1, keepdim=True),
        lambda right: right - right.mean(),
    ],
)
mistake(
    "divided by a length",
    pairs=0,
    why="Vectors, or the matrix itself, are divided by their length, as for a "
    "cosine similarity; the exercise asks for the plain product.",
    look="every division and every norm: is there one in the exercise's formula?",
    tables=[
        lambda embedding, unembedding: (F.normalize(embedding), F.normalize(unembedding)),
        lambda embedding, unembedding: (F.normalize(embedding), unembedding),
        lambda embedding, unembedding: (embedding, F.normalize(unembedding)),
    ],
    product=[
        lambda unembedding, writes, reads, embedding: (
            F.normalize(unembedding) @ F.normalize(embedding @ (writes @ reads).T).T
        ),
        lambda unembedding, writes, reads, embedding: unembedding @ F.normalize(embedding @ (writes @ reads).T).T,
        lambda right: F.normalize(right),
        lambda right: F.normalize(right, dim=0),
        lambda right: right / right.norm(),
    ],
)
mistake(
    "a layer norm",
    pairs=0,
    why="A layer norm is applied to the tokens' vectors or to what the head writes; the exercise leaves norms out.",
    look="is there a norm in the exercise's formula?",
    tables=[lambda embedding, unembedding: (F.layer_norm(embedding, embedding.shape[1:]), unembedding)],
    product=[
        lambda unembedding, writes, reads, embedding: (
            unembedding @ F.layer_norm(embedding @ (writes @ reads).T, embedding.shape[1:]).T
        )
    ],
)
mistake(
    "made symmetric",
    pairs=0,
    why="The matrix is added to its transpose, or averaged with it; the exercise asks for the product as it is.",
    look="every transpose: how many terms does the exercise's formula have?",
    product=[lambda right: (right + right.T) / 2, lambda right: right + right.T],
)
mistake(
    "the diagonal alone",
    pairs=1,
    why="Only the diagonal, the eigenvalues or a score computed from them is returned; the whole matrix is expected.",
    look="what should the number in row 0, column 1 say, and is it in your result?",
    product=[
        lambda right: right.diagonal(),
        lambda right: right.diagonal().diag(),
        lambda right: torch.linalg.eigvals(right),
        lambda right: torch.linalg.eigvals(right).real,
        lambda right: right.trace(),
        lambda right: right.diagonal().mean(),
        lambda right: copying(right).sum().real,
        lambda right: copying(right).sum(),
    ],
)


def copying(matrix):
    """The eigenvalues, divided by the sum of their absolute values."""
    values = torch.linalg.eigvals(matrix)
    return values / values.abs().sum()


mistake(
    "a matrix of features",
    pairs=1,
    why="The product contains only one of the tables, or neither, so the rows or "
    "the columns of the result stand for features; (vocabulary, vocabulary) is expected.",
    look="what should a row and a column of the result stand for?",
    product=[
        lambda writes, reads: writes @ reads,
        lambda writes, reads, embedding: embedding @ (writes @ reads).T,
        lambda writes, reads, embedding: writes @ reads @ embedding.T,
        lambda unembedding, writes, reads: unembedding @ writes @ reads,
        lambda embedding, reads: embedding @ reads.T,
        lambda unembedding, writes: unembedding @ writes,
    ],
)
