"""What passes between our process and a student's: the names in each message, and what they hold.

The types say what an honest process writes. A student's may write anything else, so whatever comes from there is
checked where it is used, and what cannot be used ends that process.
"""

from typing import Any, Literal, TypeAlias, TypedDict

Node: TypeAlias = Any  # a value as `wire.pack` writes it: null, a boolean, a text, or a list that begins with its kind


# While a call runs, both sides keep the same parameters, under the same numbers


class State(TypedDict):
    """What the other side does not know yet of the parameters, and the training modes."""

    parameters: list[tuple[int, list[Node]]]  # number, [value, gradient] of each that has changed
    modes: list[list[bool]]  # of each model, with the modules in it


class Shared(TypedDict, total=False):
    """What `lending.Scope` adds to each of its requests."""

    grad: bool  # are gradients recorded?
    state: State


# Requests. Each of our requests carries a `count`; the reply, and any request made before it, repeats it.


class Items(TypedDict):
    items: list[list[str]]  # [exercise, the name that the answer has] of all that a lesson asks for
    questions: list[str]  # their numbers


class Read(TypedDict):
    """What does the notebook hold?"""

    do: Literal["read"]
    course: dict[str, Items]  # by lesson
    lesson: str | None  # according to the file's name


class Define(TypedDict):
    """Run the cells that an answer needs, and describe it."""

    do: Literal["define"]
    exercise: str
    subject: str  # the name that the answer has
    instead: dict[str, str]  # the course's code for other exercises, by name, in place of the student's
    repaired: str  # the student's own code for this answer, if Python refuses it as it stands


class Value(TypedDict):
    """Compute the answer to a question."""

    do: Literal["value"]
    number: str


class Target(Shared):
    """What is called: an answer or what it has made, by us; what was lent to it, by the student's process."""

    do: Literal["call", "build"]  # build: describe the result, which is a module
    target: int


class Call(Target, total=False):
    inputs: list[Node]
    # From us alone:
    key: tuple[int, int]  # which attempt it is, and the seed: NumPy's and Python's generators start anew with each
    random: Node  # the state of PyTorch's generator
    watched: bool  # does the checker want to see the operations?
    # From us, if a module is called:
    own: list[str]  # its parameters' names
    train: bool
    dtype: str


class Back(Shared):
    """The backward pass of an earlier call."""

    do: Literal["back"]
    graph: int  # which call
    gradients: list[Node]  # of its results


class Step(Shared):
    """From the student's process: an optimizer that it was lent shall do this."""

    do: Literal["step", "zero_grad"]
    target: int


Request: TypeAlias = Read | Define | Value | Call | Back | Step


# Replies


class Answer(TypedDict):
    """A student's own definitions for one exercise, and what makes them comparable with another student's."""

    source: str
    digest: str  # of the code, whatever names and comments it has
    nodes: int
    lines: list[str]  # digests of its single lines
    comments: list[str]


class Refused(TypedDict):
    """A student's last definition of a name, where Python refuses it."""

    source: str
    comments: list[str]
    error: str  # Python's name for what is wrong, and its words
    text: str
    line: str  # at which Python stopped
    only: bool  # is there no other one?


class Given(TypedDict, total=False):
    """The answer to a question: a value, what has to be run for it, or why Python refuses it."""

    literal: Node
    code: str
    refused: str  # by Python, in its words
    typed: str


class Plan(TypedDict):
    """What a notebook holds."""

    lesson: str | None
    digest: str  # of all its code
    lost: str  # what could not be read of it, or nothing
    items: dict[str, Answer]
    refused: dict[str, Refused]
    answers: dict[str, Given]


class Unread(TypedDict):
    unreadable: str  # why


Parameters: TypeAlias = list[tuple[str, int, bool]]  # of a function: name, kind, has it a default?


class Function(TypedDict):
    """What is known of a function before it is called."""

    returns: tuple[str, bool, int]  # "None" or "..." if it does nothing else, or "more"; is it a lambda? inputs
    signature: Parameters | None


class Layers(TypedDict):
    """A module's parameters, and what it keeps in plain lists."""

    names: list[tuple[str, int]]  # of each parameter, which of the values it has
    values: list[Node]  # null for a parameter that has no shape before the first call
    lists: list[tuple[str, str]]  # attribute, kind of list


Known = TypedDict(
    "Known",
    {
        "target": int,  # how it is called from now on
        "name": str,
        "callable": bool,
        "class": bool,
        "module": bool,  # is it one, or a class of them?
        "signature": Parameters | None,
        "returns": tuple[str, bool, int],  # as of a function
    },
)


class Description(Known, total=False):
    """What is known of an answer before it is called."""

    value: Node  # of what cannot be called
    # Of a module, or a class of them:
    forward: Function | None  # if it has one of its own
    init: bool  # has it one of its own?
    functions: bool  # are there any in the class?
    layers: Layers | None


class Returned(TypedDict):
    """What a call has returned, to either side."""

    ok: Node
    graph: int  # which call it was, for its backward pass
    flags: list[bool]  # of each tensor that was returned: has it a gradient?


Operation: TypeAlias = tuple[str, list, list]  # its name; `lending.Noting.sizes` of the tensors it reads, and makes


class Called(Returned):
    """What a call of ours has returned, and changed."""

    built: Description | None  # the module, if one was to be built
    layers: Layers | None  # if they were made by this call
    operations: list[Operation]
    printed: int  # lines
    warned: list[str]
    made: int  # parameters
    borrowed: bool  # did the course's own code run?
    random: Node
    state: State
    given: int | None  # the input that came back as the result
    inputs: list[tuple[int, Node]]  # those that the call has changed


class Failure(TypedDict):
    """An error of the student's, as the texts that the checker makes its sentences from."""

    error: str  # the name of its class
    kind: str  # of Python's own classes, the nearest
    text: str
    line: str
    empty: bool  # does it say that nothing has been written yet?
    unfinished: str  # if so, what
    borrowed: bool  # has the answer used the course's own code?


class Done(TypedDict):
    ok: Node  # the answer to a question; the gradients of a backward pass; nothing, of an optimizer's step


class Refusal(TypedDict):
    """An error in something lent: it is raised in the student's call."""

    error: str
    text: str


# Stand-ins


class LentFunction(TypedDict):
    number: int  # of what was lent
    name: str  # of its class


class Lent(LentFunction, total=False):
    """What the student's process needs for a stand-in."""

    key: int  # of a model or optimizer: the same at each call, for what an answer notes on it
    # Of a model:
    modules: list[tuple[str, str, dict[str, Any]]]  # name, kind of layer, settings
    own: list[tuple[str, int]]  # names and numbers of its parameters
    # Of an optimizer:
    defaults: dict[str, Node]
    groups: list[dict[str, Any]]  # settings, as nodes; and params, the numbers of its parameters
