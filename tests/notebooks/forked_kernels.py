"""Kernels that start in a moment: each is forked from one process that has imported what every lesson needs.

Starting Python with PyTorch and IPython takes more of the processor's time than many a lesson. What a kernel does after
the fork no other kernel sees, and it has the arguments, the folder and the environment of one that starts afresh.
Linux alone: on macOS libraries do not survive a fork, and Windows has none.
"""

import atexit
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

LAUNCHER = "ipykernel_launcher"


# --- in pytest's process ---


@functools.cache
def nursery():
    """The process that forks kernels, one for each process of pytest."""
    process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # closes its input, which ends it
    return process


class Kernel:
    """What jupyter_client asks of a process, for one that another process has started."""

    stdin = stdout = stderr = None

    def __init__(self, pid):
        self.pid = pid

    def poll(self):
        """None while it lives; its exit code is known to the nursery alone, which may not have asked for it yet."""
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return 0
        return 0 if state == "Z" else None

    def wait(self):
        return self.poll()

    def send_signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


def launch(command, cwd, env, **streams):
    """In the place of jupyter_client's function of this name; whatever the streams are, nobody reads them."""
    order = {"arguments": command[command.index(LAUNCHER) + 1 :], "folder": cwd, "environment": env}
    print(json.dumps(order), file=nursery().stdin, flush=True)
    return Kernel(int(nursery().stdout.readline()))


# --- in the nursery ---


def fork_kernels():
    """A kernel for each line of the input, and its number as a line of the output."""
    del sys.path[0]  # the folder of this file, which no kernel has
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as every kernel has it
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # ipykernel reads it when it is imported: kernels end with this one
    import matplotlib.figure  # noqa: F401
    import torch._dynamo  # else each kernel would import it with its first optimizer,
    import torch.distributed.tensor  # noqa: F401 - and this with its first assert_close
    from ipykernel import kernelapp

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # pytest handles it, and ends this process
    signal.signal(signal.SIGCHLD, reap)
    for line in sys.stdin:
        kernel = os.fork()
        if kernel == 0:
            begin(**json.loads(line))
            kernelapp.launch_new_instance()
            os._exit(0)  # it must never read the next line
        os.setpgid(kernel, kernel)  # jupyter_client sends its signals to the whole group
        print(kernel, flush=True)


def begin(arguments, folder, environment):
    """All that distinguishes this kernel from the nursery, except for its group, which the nursery sets."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=str(os.getppid()))
    os.chdir(folder)
    sys.argv = [LAUNCHER, *arguments]


def reap(*_):
    """What kernels that have ended have used of the processor's time becomes the nursery's, and so pytest's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    fork_kernels()
