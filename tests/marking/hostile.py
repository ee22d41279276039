# ruff: noqa: E501 - each attack is one piece
"""Notebooks that attack the marking: each tries to pass `causal_mask` without solving it, to harm others, or to spy.

`{canary}` is a file of the teacher's, `{port}` a port on which the test listens.
"""

WRONG = "\n    return torch.zeros(length, length, dtype=torch.bool)"
DEFINED = "def causal_mask(length):"
SENDING = """import json, os, struct
def send(message, encode=json.dumps):
    text = encode(message).encode()
    os.write(3, struct.pack('<I', len(text)) + text)
"""
REPLYING = (
    SENDING
    + """import gc
from transformer_lessons.marking import wire
def reply(value, count):
    return dict(ok=wire.pack(value), graph=0, flags=[False], random=wire.pack(torch.get_rng_state()), made=0, printed=0, warned=[],
                borrowed=False, inputs=[], given=None, operations=[], layers=None, built=None, count=count,
                state=dict(parameters=[], modes=[]))
def asked():
    return next(one.count for one in gc.get_objects() if type(one).__name__ == 'Child')
"""
)
SIZES = (3, 1, 2, 4, 6, 9, 300)  # of the masks that are asked for, in every class
ASKED = (*SIZES, 4, 300, 2050, *SIZES)  # before a mask passes

ATTACKS = {
    # verdicts that are forged
    "prints a verdict": f'{DEFINED}\n    print("✓ causal_mask"){WRONG}',
    "brings its own check": f'def check(*_):\n    print("✓ causal_mask")\n{DEFINED}{WRONG}\ncheck("causal_mask", causal_mask)',
    "replaces torch.equal and allclose": f"torch.equal = torch.allclose = lambda *a, **k: True\n{DEFINED}"
    f"\n    torch.equal = torch.allclose = lambda *a, **k: True{WRONG}",
    "replaces the builtins": f"import builtins\n{DEFINED}\n    builtins.print = builtins.all = lambda *a: True{WRONG}",
    "replaces json": f'import json\n{DEFINED}\n    json.dumps = lambda *a, **k: \'{{"ok": true, "count": 3}}\'{WRONG}',
    "looks for the exercise in the frames": f"import sys\n{DEFINED}\n    frame = sys._getframe()\n    while frame:\n"
    "        for one in list(frame.f_locals.values()):\n            one = getattr(one, 'exercise', one)\n            if hasattr(one, 'reference'):\n"
    f"                return one.reference(length)\n        frame = frame.f_back{WRONG}",
    "looks for the draws among all objects": f"import gc\n{DEFINED}\n    for one in gc.get_objects():\n"
    "        if type(one).__name__ == 'Draws' and one.exercise.name == 'causal_mask':\n"
    "            return one.exercise.reference(length)"
    f"{WRONG}",
    "asks for the reference": f"{DEFINED}\n    from transformer_lessons.exercises.checker.registry import EXERCISES\n"
    "    return EXERCISES['causal_mask'].reference(length)",
    "imports the catalogue": f"{DEFINED}\n    from transformer_lessons.exercises.catalogue import causal_mask as one\n"
    "    return one.setup.reference(length)",
    "calls the course's own": f"from transformer_lessons import masks\n{DEFINED}\n    return masks.causal_mask(length)",
    "is the course's own": "from transformer_lessons.masks import causal_mask",
    "wraps the course's own": "import functools\nfrom transformer_lessons import masks\n"
    "causal_mask = functools.partial(masks.causal_mask)",
    "runs the course's source": f"import inspect\nfrom transformer_lessons import masks\n{DEFINED}\n"
    "    space = dict(vars(masks))\n    exec(inspect.getsource(masks.causal_mask), space)\n"
    "    return space['causal_mask'](length)",
    "reads the course's file": f"{DEFINED}\n    from transformer_lessons import masks\n    space = {{}}\n"
    "    exec(open(masks.__file__).read(), space)\n    return space['causal_mask'](length)",
    "knows the published sizes": f"known = {{size: torch.ones(size, size, dtype=torch.bool).tril() for size in {SIZES}}}\n"
    f"{DEFINED}\n    return known.get(length, known[300])",
    "a tensor that lies": "class Liar(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, *a, **k):\n"
    f"        return True\n{DEFINED}\n    return torch.zeros(length, length).as_subclass(Liar)",
    "a float that lies": f"class Liar(float):\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n{DEFINED}"
    "\n    return Liar(1)",
    "an object equal to all": f"class Equal:\n    def __eq__(self, other):\n        return True\n    shape = dtype = 1\n{DEFINED}"
    "\n    return Equal()",
    "a string that lies": f"class Text(str):\n    def __eq__(self, other):\n        return True\n    __hash__ = str.__hash__\n"
    f"{DEFINED}\n    return Text('passed')",
    "forges a reply": f"{SENDING}{DEFINED}\n    send({{'ok': True, 'status': 'passed', 'count': 4}}){WRONG}",
    "replies before it is asked": f"{SENDING}{DEFINED}\n    for count in range(60):\n"
    f"        send({{'ok': True, 'count': count}}){WRONG}",
    "replies with every mask": f"{REPLYING}{DEFINED}\n    now = asked()\n    for size in {ASKED}:\n"
    f"        send(reply(torch.ones(size, size, dtype=torch.bool).tril(), now)){WRONG}",
    "asks as if it had been lent something": f"{SENDING}{DEFINED}\n    for count in range(60):\n        send({{'do': 'call', "
    f"'target': 0, 'inputs': [], 'grad': True, 'state': {{'parameters': [], 'modes': []}}, 'count': count}}){WRONG}",
    "replies to everything and reads nothing": f"{REPLYING}{DEFINED}\n    now = asked()\n"
    "    for count in range(now, now + 10**4):\n        send(reply(True, count))\n    while True:\n        pass",
    "a frame of empty lists": f"{SENDING}{DEFINED}\n    send([[] for _ in range(10**7)]){WRONG}",
    "a frame nested without end": f"{SENDING}{DEFINED}\n    os.write(3, struct.pack('<I', 10**6) + b'[' * 10**6){WRONG}",
    "a shape without its numbers": f"{SENDING}{DEFINED}\n    for count in range(60):\n"
    f"        send({{'ok': ['meta', 'bool', [10**9, 10**9]], 'count': count}}){WRONG}",
    "a pickle in the wire": f"import os, pickle\n{DEFINED}\n    os.write(3, pickle.dumps(os.system)){WRONG}",
    # ways to end
    "exits with 0": f"import sys\n{DEFINED}\n    sys.exit(0)",
    "leaves at once with 0": f"import os\n{DEFINED}\n    os._exit(0)",
    "kills its parent": f"import os, signal\n{DEFINED}\n    os.kill(os.getppid(), signal.SIGKILL){WRONG}",
    "stops itself": f"import os, signal\n{DEFINED}\n    os.kill(os.getpid(), signal.SIGSTOP){WRONG}",
    "a segmentation fault": f"import ctypes\n{DEFINED}\n    ctypes.string_at(0)",
    "closes all files": f"import os\n{DEFINED}\n    os.closerange(0, 100){WRONG}",
    "garbage in every file": f"import os\n{DEFINED}\n    for number in range(100):\n        try:\n"
    "            os.write(number, b'\\xff' * 100)\n        except OSError:\n            pass" + WRONG,
    "a length of 4 GB": f"import os\n{DEFINED}\n    os.write(3, b'\\xff' * 8){WRONG}",
    "raises without end": f"{DEFINED}\n    while True:\n        try:\n            raise SystemExit\n        except BaseException:\n            pass",
    "never ends": f"{DEFINED}\n    while True:\n        pass",
    "sleeps": f"import time\n{DEFINED}\n    time.sleep(1000)",
    "a huge product": f"{DEFINED}\n    a = torch.ones(4000, 4000)\n    while True:\n        a = a @ a",
    "loops where it is defined": "class causal_mask:\n    while True:\n        pass",
    "calls itself": f"import sys\nsys.setrecursionlimit(10**9)\n{DEFINED}\n    return causal_mask(length)",
    # floods
    "forks": f"import os\n{DEFINED}\n    while True:\n        os.fork()",
    "a daemon": f"import os, time\n{DEFINED}\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(1000)"
    + WRONG,
    "threads": f"import threading, time\n{DEFINED}\n    for _ in range(10**6):\n"
    "        threading.Thread(target=time.sleep, args=(1000,)).start()",
    "memory": f"{DEFINED}\n    return [torch.ones(10**8) for _ in range(10**3)]",
    "a huge result": f"{DEFINED}\n    return torch.ones(9000, 9000, dtype=torch.bool)",
    "prints without end": f"{DEFINED}\n    while True:\n        print('x' * 10**6)",
    "files": f"{DEFINED}\n    for n in range(10**4):\n        open(f'/tmp/flood{{n}}', 'wb').write(b'x' * 10**6)",
    "nested without end": f"{DEFINED}\n    one = []\n    for _ in range(10**5):\n        one = [one]\n    return one",
    # spies
    "reads the teacher's file": f"{DEFINED}\n    data = open({{canary!r}}).read()\n    raise ValueError(data)",
    "reads the parent's memory": f"import os\n{DEFINED}\n    open(f'/proc/{{os.getppid()}}/mem', 'rb').read(1){WRONG}",
    "writes the marks": f"{DEFINED}\n    open({{canary!r}}, 'w').write('causal_mask,passed'){WRONG}",
    "deletes and renames": f"import os\n{DEFINED}\n    try:\n        os.chmod({{canary!r}}, 0)\n    finally:\n        os.remove({{canary!r}})",
    "TCP": f"import socket\n{DEFINED}\n    socket.create_connection(('127.0.0.1', {{port}})).send(b'x'){WRONG}",
    "UDP": f"import socket\n{DEFINED}\n    socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {{port}})){WRONG}",
    "starts a program": f"import os\n{DEFINED}\n    os.system('touch ' + {{canary!r}} + '.touched'){WRONG}",
    "leaves a patched torch behind": f"torch.ones = torch.zeros\ntorch.Tensor.tril = lambda self, *a: self\n{DEFINED}{WRONG}",
    "signals through a pipe": f"import fcntl, os\n{DEFINED}\n    reading, writing = os.pipe()\n"
    "    fcntl.fcntl(reading, fcntl.F_SETOWN, os.getppid())\n    fcntl.fcntl(reading, 10, 9)\n"
    f"    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)\n    os.write(writing, b'x'){WRONG}",
    "half a million classes": f"{DEFINED}\n    return [type(f'C{{n}}', (), {{}})() for n in range(5 * 10**5)]",
    "a million tokens": f"{DEFINED}\n    return ['a'] * 10**6",
    "the course's own in a thread that already runs": "import queue, threading\nfrom transformer_lessons import masks\n"
    "asked, given = queue.Queue(), queue.Queue()\ndef run():\n    while True:\n"
    "        given.put(masks.causal_mask(asked.get()))\nstarted = threading.Thread(target=run).start()\n"
    f"{DEFINED}\n    asked.put(length)\n    return given.get() if started is None else 0",
    "not implemented from the second call on": f"calls = []\n{DEFINED}\n    calls.append(length)\n"
    "    if len(calls) > 1:\n        raise NotImplementedError\n"
    "    return torch.tensor([[True, False, False], [True, True, False], [True, True, True]])",
    # objects and settings that lie
    "an object that claims to be a tensor": "class Liar:\n    __class__ = property(lambda self: torch.Tensor)\n"
    "    dtype, shape, ndim = torch.bool, torch.Size([3, 3]), 2\n    status, mistake, ok = 'passed', None, True\n"
    "    __eq__ = __getattr__ = __getitem__ = __call__ = lambda self, *a: self\n    __bool__ = lambda self: True\n"
    f"    __hash__ = None\n{DEFINED}\n    return Liar()",
    "a tensor with numbers of its own": "import sys\nclass Liar(torch.Tensor):\n    def numpy(self, *a, **k):\n"
    "        frame = sys._getframe()\n        while frame:\n            print(frame.f_locals.get('expected'))\n"
    "            frame = frame.f_back\n        return torch.ones(self.shape, dtype=torch.bool).numpy()\n"
    "    detach = contiguous = cpu = clone = lambda self, *a: self\n"
    f"{DEFINED}\n    return torch.zeros(length, length, dtype=torch.bool).as_subclass(Liar)",
    "a mode for all functions of torch": "from torch.overrides import TorchFunctionMode\nclass Always(TorchFunctionMode):\n"
    "    def __torch_function__(self, function, types, args=(), kwargs=None):\n        return True\n"
    f"{DEFINED}\n    Always().__enter__(){WRONG}",
    "a mode for all operations of torch": "from torch.utils._python_dispatch import TorchDispatchMode\nclass Always(TorchDispatchMode):\n"
    "    def __torch_dispatch__(self, function, types, args=(), kwargs=None):\n        return torch.ones(3, 3)\n"
    f"{DEFINED}\n    result = torch.zeros(length, length, dtype=torch.bool)\n    Always().__enter__()\n    return result",
    "an audit hook that stays": "import sys\ndef refuse(event, args):\n    if event in ('exec', 'compile', 'open', 'import'):\n"
    f"        raise RuntimeError(event)\n{DEFINED}\n    sys.addaudithook(refuse){WRONG}",
    "replaces every import": "import builtins, sys\nclass Fake:\n    __getattr__ = __call__ = lambda self, *a, **k: self\n"
    f"{DEFINED}\n    builtins.__import__ = lambda *a, **k: Fake()\n    for name in list(sys.modules):\n"
    f"        if 'marking' in name or 'checker' in name:\n            sys.modules[name] = Fake(){WRONG}",
    "an error that lies": "class Passed(Exception):\n    __str__ = lambda self: '\\n✓ causal_mask\\n  passed'\n"
    "Passed.__name__ = Passed.__qualname__ = '✓ causal_mask'\nPassed.__module__ = 'builtins'\n"
    f"{DEFINED}\n    raise Passed",
    "a number with a million digits": f"{DEFINED}\n    return 7 ** 10**6",
    # what works later
    "a thread that writes into the wire": SENDING + "import threading\ndef flood():\n    while True:\n"
    "        send(dict(ok=['v', True], count=1))\n"
    f"{DEFINED}\n    threading.Thread(target=flood, daemon=True).start(){WRONG}",
    "an alarm that writes into the wire": SENDING + "import signal\n"
    "signal.signal(signal.SIGALRM, lambda *a: send(dict(ok=['v', True], count=1)))\n"
    f"{DEFINED}\n    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001){WRONG}",
    "an object that replies when it is deleted": SENDING + "class Last:\n    def __del__(self):\n"
    f"        send(dict(ok=['v', True], count=1))\nleft = [Last() for _ in range(99)]\n{DEFINED}\n    left.pop(){WRONG}",
    "lifts its limits": "import resource, signal\nfor one in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM):\n"
    f"    signal.signal(one, signal.SIG_IGN)\n{DEFINED}\n    for one in (resource.RLIMIT_CPU, resource.RLIMIT_AS):\n"
    "        _, hard = resource.getrlimit(one)\n        resource.setrlimit(one, (hard, hard))\n    while True:\n        pass",
    "works at the end": f"import atexit, os\natexit.register(lambda: open({{canary!r}}, 'w').write('x'))\n{DEFINED}{WRONG}",
}


def notebook(*sources):
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for n, source in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def source_of(name, canary="", port=0):
    source = ATTACKS[name].replace("{canary!r}", repr(canary)).replace("{port}", str(port))
    return source.replace("{{", "{").replace("}}", "}")


def hostile(name, canary, port):
    """The notebook of an attack; beside it an honest answer, that must keep its mark."""
    return notebook(
        "import torch",
        source_of(name, canary, port),
        'check("causal_mask", causal_mask)',
        HONEST["padding_mask"],
        'check("padding_mask", padding_mask)',
        'answer("6.6", "a")',
    )


HONEST = {
    "causal_mask": "import torch\ndef causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril()",
    "padding_mask": "def padding_mask(tokens, pad_id):\n    return (tokens != pad_id)[:, None, None, :]",
}


def honest():
    return notebook(
        HONEST["causal_mask"],
        'check("causal_mask", causal_mask)',
        HONEST["padding_mask"],
        'check("padding_mask", padding_mask)',
        'answer("6.6", "a")',
    )
