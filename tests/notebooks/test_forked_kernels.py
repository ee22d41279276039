"""A forked kernel is like one that starts afresh: it knows nothing of another, can be interrupted, and ends."""

import os
import sys
import time
from unittest import mock

import forked_kernels
import pytest
from jupyter_client.provisioning import local_provisioner
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel
from strict_notebooks import ask

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")


@pytest.fixture
def kernels(tmp_path):
    with mock.patch.object(local_provisioner, "launch_kernel", forked_kernels.launch):
        pair = [RunningKernel(CURRENT_ENV_KERNEL_NAME, cwd=str(tmp_path)) for _ in range(2)]
    yield pair
    for kernel in pair:
        kernel.stop()


def test_a_kernel_has_its_own_modules_folder_and_group_and_nothing_of_another(kernels, tmp_path):
    first, second = kernels
    ask(first, "import os, sys\nos.left = 1\nos.environ['LEFT'] = ''")
    assert ask(first, "", "hasattr(os, 'left')")
    ask(second, "import os, sys")
    assert not ask(second, "", "hasattr(os, 'left') or 'LEFT' in os.environ or 'transformer_lessons' in sys.modules")
    assert ask(second, "", "os.getcwd()") == os.path.realpath(tmp_path)
    assert ask(second, "", "os.getpgid(0) == os.getpid() and not sys.path[0].endswith('notebooks')")
    assert ask(second, "import subprocess", "subprocess.call(['true'])") == 0


def test_a_kernel_is_interrupted_alone_and_when_it_has_ended_that_is_noticed(kernels, tmp_path):
    first, second = kernels
    endless = "open('begun', 'w').close()\nwhile True:\n    pass"
    message = first.kc.execute(endless, stop_on_error=False)  # else a kernel drops what comes just after an error
    wait_until((tmp_path / "begun").exists)
    first.interrupt()
    while (reply := first.get_message("shell", timeout=60))["parent_header"].get("msg_id") != message:
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    first.kc.execute("import os\nos._exit(1)")
    wait_until(lambda: not first.is_alive())
    assert second.is_alive()


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
