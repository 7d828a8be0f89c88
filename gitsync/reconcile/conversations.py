"""The conversations of one run with Azure: each node has one, and a stop of the run ends all of them."""

from __future__ import annotations

from gitsync.arm.http.conversation import LAST_ANSWER, Conversation


class Conversations:
    """Made once a run. Deadlines are in monotonic seconds."""

    def __init__(self) -> None:
        self._open: list[Conversation] = []
        self._stopped_at: float | None = None

    def begin(self, deadline: float) -> Conversation:
        """The conversation of a node; it is over at once if the run was stopped."""
        conversation = Conversation(deadline=deadline)
        self._open.append(conversation)
        if self._stopped_at is not None:
            conversation.end(self._stopped_at)
        return conversation

    def begin_last(self, deadline: float, now: float) -> Conversation:
        """A conversation for the work after the nodes. It has some seconds, even if the time is up or the run was
        stopped.
        """
        if self._stopped_at is not None:
            return Conversation(deadline=now + LAST_ANSWER)
        conversation = Conversation(deadline=max(deadline, now + LAST_ANSWER))
        self._open.append(conversation)
        return conversation

    def end(self, now: float) -> None:
        """End every wait. The next run continues unfinished operations."""
        self._stopped_at = now
        for conversation in self._open:
            conversation.end(now)
