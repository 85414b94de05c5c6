"""
Who asks the server, beside having its token: the program at the other end, where that runs on this machine.

A request with the token is a person's. But a program in a pane of a terminal, an agent or a script, may do no more by
way of the server than it may do itself. A browser that the desktop has started is in no pane; a tunnel ends at a login.
The connection is looked up in the tables of `/proc`, on the thread that serves a request, once for each connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
from fastapi import Request

from tallylight.actions.caller import Caller, End, Who, caller_of
from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.ports import connected
from tallylight.serve.connections import connection_of

#: Who is somewhere else, or in no pane.
PERSON = Caller(Who.PERSON, (0, 0))


def nobody_here(_client: tuple[str, int], _server: tuple[str, int]) -> Sequence[int]:
    """Every request comes from elsewhere."""
    return ()


@attrs.frozen
class Asking:
    """*processes* tells those at the other end of a connection, *agents* which of them are agents."""

    agents: Agents
    processes: Callable[[tuple[str, int], tuple[str, int]], Sequence[int]] = connected
    table: process_table.Table = attrs.Factory(process_table.table)

    def of(self, request: Request) -> Callable[[], Caller]:
        """Tells who sends *request*, when it is called: it looks through the process table."""
        connection, client, server = connection_of(request.scope), request.client, request.scope.get("server")

        def who() -> Caller:
            if connection is not None and connection.caller is not None:
                return connection.caller
            ends = (client.host, client.port) if client is not None else None
            found = self._caller(ends, tuple(server)) if ends is not None and server else PERSON
            if connection is not None:
                connection.caller = found
            return found

        return who

    def _caller(self, client: tuple[str, int], server: tuple[str, int]) -> Caller:
        """Several processes may share a connection: the one that may do the least counts."""
        found = [caller_of(pid, self.agents, self.table) for pid in self.processes(client, server)]
        agent = next((one for one in found if one.who in (Who.STRAY, Who.AGENT)), None)
        return agent or next((one for one in found if one.end is End.TERMINAL), PERSON)


#: A server that takes every request for a person's.
EVERYBODY = Asking(Agents(()), nobody_here)
