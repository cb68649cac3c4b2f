# SPDX-License-Identifier: MIT
"""A proxy between a host and a RabbitMQ server, which does what a server does seldom.

It reads the frames of the host. A publishing whose body has WORD is not passed on: the proxy closes
the channel because of it, as a server that refuses the message, or ends the connection. Confirms
are held back from the second one on, until such a publishing comes: so the host has others
unconfirmed then.
"""
import socket
import struct
import threading

CLOSE_OK, CLOSE = (20, 41), (20, 40)
PUBLISH, ACK = (60, 40), (60, 80)
TEXT = b"PRECONDITION_FAILED - the proxy takes no such message"


def frame(channel, method, arguments=b""):
    payload = struct.pack(">HH", *method) + arguments
    return struct.pack(">BHI", 1, channel, len(payload)) + payload + b"\xce"


def close(code, text, cause):
    return struct.pack(">HB", code, len(text)) + text + struct.pack(">HH", *cause)


def read_frame(stream):
    """Its kind, channel, method or None, and all its bytes."""
    head = stream.read(7)
    if len(head) < 7:
        raise EOFError
    kind, channel, size = struct.unpack(">BHI", head)
    rest = stream.read(size + 1)
    if len(rest) < size + 1:
        raise EOFError
    return kind, channel, struct.unpack(">HH", rest[:4]) if kind == 1 else None, head + rest


class Connection:
    def __init__(self, proxy, host):
        self.proxy, self.host = proxy, host
        self.server = socket.create_connection(("127.0.0.1", proxy.port_of_server))
        self.host_closes, self.server_closes = set(), set()  # channels whose frames are dropped
        self.published = self.confirmed = 0  # on the present channel: numbers of the last ones
        self.closed = threading.Event()  # the server has closed it, too
        self.lock = threading.Lock()
        threading.Thread(target=self.run, args=(self.from_host,), daemon=True).start()
        threading.Thread(target=self.run, args=(self.from_server,), daemon=True).start()

    def run(self, what):
        try:
            what()
        except (EOFError, OSError):
            pass
        for end in (self.host, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def from_host(self):
        stream = self.host.makefile("rb")
        self.server.sendall(stream.read(8))
        publishing = []
        while True:
            kind, channel, method, data = read_frame(stream)
            if channel in self.host_closes:
                if method == CLOSE_OK:
                    self.host_closes.discard(channel)
                    self.server.sendall(frame(channel, CLOSE, close(200, b"", (0, 0))))
                    self.closed.wait()
                continue
            if method == PUBLISH or (publishing and kind in (2, 3)):
                publishing.append(data)
                if kind == 3:
                    self.publish(channel, publishing)
                    publishing = []
                continue
            self.server.sendall(data)

    def publish(self, channel, frames):
        if self.proxy.word not in frames[-1]:
            self.published += 1
            self.server.sendall(b"".join(frames))
            return
        with self.lock:
            self.proxy.seen += 1
            if self.proxy.ends:
                raise EOFError
            self.proxy.unconfirmed.append(self.published - self.confirmed)
            self.published = self.confirmed = 0
            self.host_closes.add(channel)
            self.server_closes.add(channel)
            self.closed.clear()
            self.host.sendall(frame(channel, CLOSE, close(406, TEXT, PUBLISH)))

    def from_server(self):
        stream = self.server.makefile("rb")
        while True:
            _, channel, method, data = read_frame(stream)
            with self.lock:
                if channel in self.server_closes:
                    if method == CLOSE_OK:
                        self.server_closes.discard(channel)
                        self.closed.set()
                    continue
                if method == ACK and self.confirmed > 0 and not self.proxy.seen:
                    continue
                if method == ACK:
                    self.confirmed = struct.unpack(">Q", data[11:19])[0]
                self.host.sendall(data)


class Proxy:
    def __init__(self, port_of_server, word, ends=False):
        self.port_of_server, self.word, self.ends = port_of_server, word, ends
        self.seen = 0
        self.unconfirmed = []  # how many others were, at each refusal
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"amqp://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                host, _ = self.listener.accept()
            except OSError:
                return
            Connection(self, host)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
