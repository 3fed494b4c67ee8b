"""Exceptions, and the findings that they carry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import List, Optional, Tuple


@dataclass(frozen=True)
class Finding:
    """What was found in a text, a program or a run.

    ``severity`` is ``"note"``, ``"warning"`` or ``"error"``; ``rule`` is a stable name; ``line`` and ``column`` count from 1 and are ``None`` where
    there is no text; ``pc`` is the instruction; ``cite`` the manual's section; ``text`` all of it, with the source line and a caret.

    >>> try:
    ...     ctm.Program("mov o9, 1", isa="x1k")
    ... except ctm.ProgramError as error:
    ...     found = error.findings[0]
    >>> found.severity, found.line, found.column
    ('error', 1, 5)
    """

    severity: str
    rule: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    pc: Optional[int] = None
    cite: Optional[str] = None
    help: Optional[str] = None
    text: str = ""

    def __str__(self) -> str:
        return self.text or self.message


class Error(Exception):
    """Everything that ctm raises. ``code`` is a stable name, ``findings`` a list of :class:`Finding`.

    >>> try:
    ...     ctm.run(".output o = o0\\nmov o, r0", 0)
    ... except ctm.Error as error:
    ...     print(type(error).__name__)
    ArgumentError
    """

    def __init__(
        self,
        message: str,
        code: str = "error",
        findings: Optional[List[Finding]] = None,
        pc: Optional[int] = None,
        position: Optional[Tuple[int, int]] = None,
    ) -> None:
        super().__init__(message, code, findings or [], pc, position)
        self.code = code
        self.findings = findings or []
        self.pc = pc
        self.position = position

    def __str__(self) -> str:
        return str(self.args[0])


class ProgramError(Error):
    """A text, a program or a job is wrong; ``findings`` has everything that was found.

    >>> try:
    ...     ctm.Program("mvo o0, 1\\nmov o0, r900", isa="x1k")
    ... except ctm.ProgramError as error:
    ...     print([finding.line for finding in error.findings])
    [1, 2]
    """


class ArgumentError(Error, ValueError):
    """An argument does not fit the program or the device.

    >>> try:
    ...     ctm.run(".output o = o0\\nmov o, r0", 4, {"x": np.zeros(4)})
    ... except ctm.ArgumentError as error:
    ...     print("no input" in str(error))
    True
    """


class Fault(Error):
    """The running program did wrong. ``pc`` is the instruction, ``position`` the processor (column, row), where known.

    >>> try:
    ...     ctm.run(".output o = o0\\nagain: mov r1, r0\\nfc jump func=0xff to=again\\nmov o, r1", 4, instructions=1000)
    ... except ctm.Fault as fault:
    ...     print(fault.code, fault.pc is None)
    instruction-budget False
    """


class Cancelled(Fault):
    """The run was cancelled: another thread ended it. Ctrl-C raises ``KeyboardInterrupt``, and a ``progress`` function what it raises.

    >>> issubclass(ctm.Cancelled, ctm.Fault)
    True
    """


def findings(text: str) -> List[Finding]:
    """The findings of a JSON array."""
    out = []
    for entry in json.loads(text):
        labels = entry.get("labels") or [{}]
        out.append(
            Finding(
                severity=entry["severity"],
                rule=entry["rule"],
                message=entry["message"],
                file=entry.get("file"),
                line=labels[0].get("line"),
                column=labels[0].get("column"),
                pc=entry.get("pc"),
                cite=entry.get("cite"),
                help=entry.get("help"),
                text=entry.get("text", ""),
            )
        )
    return out


_KINDS = {"program": ProgramError, "argument": ArgumentError, "fault": Fault, "cancelled": Cancelled}


def make(kind, message, code, findings_json, pc, position):
    """The exception that the native part raises."""
    found = findings(findings_json) if findings_json != "[]" else []
    return _KINDS.get(kind, Error)(message, code, found, pc, position)
