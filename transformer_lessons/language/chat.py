"""A conversation with a published chat model: a text with special tokens in it, and a cache that keeps it."""

import re
from collections.abc import Generator, Iterable, Iterator

import torch

from transformer_lessons.language.gguf_file import GGUFFile
from transformer_lessons.language.gguf_tokenizer import PublishedBytePairs
from transformer_lessons.language.sampling import Cache, check_sampling, sample_next, seeded
from transformer_lessons.models import LanguageModel
from transformer_lessons.validation import check_sizes

START, END = "<|im_start|>", "<|im_end|>"  # of each message: tokens of their own, which no other text becomes


def as_text(messages: Iterable[tuple[str, str]], answer: bool = True) -> str:
    """The text of a conversation: its (role, content) pairs, each between two special tokens.

    With answer, the beginning of the assistant's next message follows, which the model then writes.
    """
    text = "".join(f"{START}{role}\n{content}{END}\n" for role, content in messages)
    return text + f"{START}assistant\n" if answer else text


def default_system(file: GGUFFile) -> str | None:
    """The system message with which a GGUF file's template begins a conversation that has none; None if it has none."""
    template = file.metadata.get("tokenizer.chat_template")
    if not isinstance(template, str) or START not in template:
        raise ValueError(f"{file.path} is not a chat model of this kind: its template has no {START}")
    found = re.search(rf"{re.escape(START)}system\n(.+?){re.escape(END)}", template.replace("\\n", "\n"))
    return found[1] if found else None


class Conversation:
    """Questions and answers. The model reads every token once: the cache keeps what has been said.

    A conversation longer than the model's max_length loses its older half, as every text does in the cache.
    """

    def __init__(
        self,
        model: LanguageModel,
        vocabulary: PublishedBytePairs,
        system: str | None = None,
        temperature: float = 0.0,
        top_k: int | None = None,
        seed: int | None = None,
    ) -> None:
        for token in (START, END):
            if token not in vocabulary.special:
                raise ValueError(f"the tokenizer has no {token}: it is not that of a chat model of this kind")
        check_sampling(temperature, top_k, len(vocabulary))
        self.vocabulary, self.temperature, self.top_k = vocabulary, temperature, top_k
        self.generator = seeded(model, seed)
        self.cache = Cache(model, batch=1)
        self.ids = self.message("system", system) if system else []  # all that was said

    def message(self, role: str, content: str) -> list[int]:
        """Its ids. Whatever is typed as its content, the message ends where we end it."""
        encode = self.vocabulary.encode
        return [*encode(START), *self.vocabulary.encode_plain(f"{role}\n{content}"), *encode(f"{END}\n")]

    def ask(self, question: str, length: int = 1024) -> Generator[str, None, None]:
        """An iterator over the answer, piece by piece: at most length tokens, fewer if it is closed before its end."""
        check_sizes(length=length)
        self.ids += self.message("user", question) + self.vocabulary.encode(as_text([]))
        try:
            yield from self.vocabulary.decode_stream(self.answer(length))
        finally:
            self.ids += self.vocabulary.encode(f"{END}\n")

    def answer(self, length: int) -> Iterator[int]:
        """The answer's tokens, until the model ends it."""
        for _ in range(length):
            token = self.next_token()
            if token == self.vocabulary.ids[END]:
                return
            self.ids.append(token)
            yield token

    def next_token(self) -> int:
        """Reads what has been said since the last time, and draws what comes next."""
        unread = torch.tensor([self.ids[self.cache.tokens.shape[1] :]], device=self.cache.tokens.device)  # (1, length)
        logits = self.cache.read(unread)  # (1, vocabulary)
        return sample_next(logits.float(), self.temperature, self.top_k, self.generator).item()
