"""How the server of JupyterLab hands the kernel's messages to the browser: at once."""

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The usual connection without Nagle's algorithm.

    A kernel answers a slider in several small messages.  With the algorithm each waits until the
    browser has confirmed the one before, which it puts off by 40 ms: as long as a picture takes.
    """

    def connect(self):
        self.websocket_handler.set_nodelay(True)
        return super().connect()
