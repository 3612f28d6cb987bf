"""A watcher of runs that shows nothing, and keeps what it was told."""


class Silent:
    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)

    def doing(self, what):
        pass

    def show(self, metrics):
        pass
