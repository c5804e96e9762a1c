"""A command on a terminal."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


class Terminal:
    """Runs a command with a terminal as its input and standard error; its output is kept apart unless `is_output`."""

    def __init__(self, person, *arguments, is_output=False, columns=0, **environment):
        self.end, near = pty.openpty()
        fcntl.ioctl(near, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        options = person._options({"TERM": "xterm", **environment})
        options["stdin"] = near
        self.process = subprocess.Popen(
            [person.program, *map(str, arguments)], stdout=near if is_output else subprocess.PIPE,
            stderr=near, **options
        )
        os.close(near)
        self.said = ""

    def read(self, until=None, seconds=20):
        """Reads until a text appears or the command ends."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (until is None or until not in self.said):
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.end, 4096).decode()
                except OSError:
                    break
            elif self.process.poll() is not None:
                break
        return self.said

    def type(self, text):
        os.write(self.end, text.encode())

    def finish(self):
        output = self.process.stdout.read().decode() if self.process.stdout else ""
        self.read()
        os.close(self.end)
        return self.process.wait(20), output
