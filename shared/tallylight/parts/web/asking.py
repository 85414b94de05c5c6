"""
The sender of a request with the token: the program at the other end, if it runs on this machine.

A request with the token counts as a person's: their browser may have been started anywhere. But an agent, and its child
processes, may do no more through the server than they may do themselves. The connection is looked up in the tables of
`/proc`, on the thread of a request, once for each connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import Request

from tallylight.actions.caller import PERSON, Caller, Who, caller_of
from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.ports import connected
from tallylight.parts.web.connections import connection_of


def who_asks(
    request: Request,
    agents: Agents,
    processes: Callable[[tuple[str, int], tuple[str, int]], Sequence[int]] = connected,
) -> Caller:
    """
    Return the sender of *request*. *processes* returns those at the other end of a connection; *agents* are all known.

    It reads the process table: call it on a thread.
    """
    connection, client, server = connection_of(request.scope), request.client, request.scope.get("server")
    if connection is not None and connection.caller is not None:
        return connection.caller
    found = PERSON
    if client is not None and server:
        # Several processes may share a connection: an agent among them counts.
        ends = processes((client.host, client.port), tuple(server))
        callers = (caller_of(pid, agents, process_table.table()) for pid in ends)
        found = next((one for one in callers if one.who in (Who.STRAY, Who.AGENT)), PERSON)
    if connection is not None:
        connection.caller = found
    return found
