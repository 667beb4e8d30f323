"""Starts `seatrial` again and again as forks of one process, which saves the time to import everything.

Each line on standard input is JSON: the arguments, and the file for what the command prints. The process id of the
command and, when it has ended, its wait status are printed; a new line is read then. Run by test_crashes.
"""

import json
import os
import sys
import traceback


def preload() -> None:
    """Import what a server imports, by making one that is not started."""
    import cryptography.x509
    import httptools
    import uvicorn
    import uvloop

    import seatrial.cli.main
    import seatrial.cli.serve
    import seatrial.control_plane.process
    from seatrial.control_plane.components import Settings, compose

    compose(Settings(scheduler=False, controllers=(), insecure=True))
    assert cryptography and httptools and uvicorn and uvloop and seatrial


def command(arguments: list[str], output: str) -> None:
    """Become the command."""
    from seatrial.cli.main import main

    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(file, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["seatrial", *arguments]
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001  the test looks for it
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    preload()
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if not child:
            command(order["arguments"], order["output"])
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)
