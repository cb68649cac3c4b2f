# SPDX-License-Identifier: MIT
"""A headless Chromium that is driven over a pipe, by the Chrome DevTools Protocol.

The browser reads requests from descriptor 3 and writes answers to descriptor 4, as JSON that ends
with NUL.
"""
import base64
import json
import os
import subprocess
import time

COMMAND = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
           "--no-first-run", "--disable-background-networking", "--disable-component-update",
           "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe"]


class Browser:
    """One page. `folder` is an empty one, for its profile and its log."""

    def __init__(self, folder, url, width, height):
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        with open(os.path.join(folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec 3<&{requests} 4>&{answers}; exec "$@"', "bash", *COMMAND,
                 f"--user-data-dir={folder}/profile", f"--window-size={width},{height}"],
                pass_fds=(requests, answers), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.close(requests)
        os.close(answers)
        self.number = 0
        self.session = None
        self.rest = b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def ask(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                break
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def next_message(self):
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise RuntimeError("chromium has ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression):
        """Waits until this is true in the page. The caller's time-out is the only clock."""
        while not self.value(expression):
            time.sleep(0.02)

    def choose_files(self, selector, paths):
        """As a person chooses files in an input field."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", files=[str(path) for path in paths], nodeId=node)

    def picture(self, path):
        """Writes what the page looks like, as PNG."""
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.requests)
        os.close(self.answers)
