from os import PathLike
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._errors import (
    ArgumentError as ArgumentError,
    Cancelled as Cancelled,
    Error as Error,
    Fault as Fault,
    Finding as Finding,
    ProgramError as ProgramError,
)

__version__: str
__all__ = [
    "ArgumentError",
    "Cancelled",
    "Capture",
    "Device",
    "Drawn",
    "Error",
    "Fault",
    "Finding",
    "Job",
    "Picture",
    "Plane",
    "Program",
    "ProgramError",
    "Progress",
    "Replayed",
    "Result",
    "Sampler",
    "command_text",
    "command_words",
    "draw",
    "run",
]

DomainLike = Union[int, Tuple[Union[int, slice], Union[int, slice]]]
OutputLike = Union[None, int, Tuple[int, npt.DTypeLike], np.ndarray]
OutputsLike = Union[None, str, Iterable[str], Mapping[str, OutputLike]]
ConstantLike = Union[float, Sequence[float], np.ndarray]
LoopLike = Union[int, Tuple[int], Tuple[int, int], Tuple[int, int, int]]

class Plane:
    origin: List[float]
    di: List[float]
    dj: List[float]
    bits: bool
    def __init__(self, origin: ConstantLike = 0, di: ConstantLike = 0, dj: ConstantLike = 0, bits: bool = False) -> None: ...

class Program:
    def __init__(self, text: str, isa: Optional[str] = None) -> None: ...
    @classmethod
    def read(cls, data: bytes, name: str = "program", isa: Optional[str] = None, which: Union[None, int, str] = None) -> Program: ...
    @classmethod
    def open(cls, path: Union[str, PathLike[str]], isa: Optional[str] = None, which: Union[None, int, str] = None) -> Program: ...
    @property
    def isa(self) -> str: ...
    @property
    def words(self) -> npt.NDArray[np.uint32]: ...
    @property
    def listing(self) -> str: ...
    @property
    def source(self) -> Optional[str]: ...
    @property
    def inputs(self) -> Dict[str, str]: ...
    @property
    def outputs(self) -> Dict[str, str]: ...
    @property
    def constants(self) -> Dict[str, str]: ...
    @property
    def scatters(self) -> bool: ...
    @property
    def warnings(self) -> List[Finding]: ...
    def check(self) -> List[Finding]: ...
    def to_elf(self) -> bytes: ...
    def to_hex(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def __len__(self) -> int: ...

class Sampler:
    array: Any
    how: Tuple[int, int, int]
    border: npt.NDArray[np.float32]
    def __init__(
        self,
        array: Any,
        filter: str = "nearest",
        wrap: Union[str, Tuple[str, str]] = "clamp",
        border: Sequence[float] = (0, 0, 0, 0),
    ) -> None: ...

class Progress:
    done: int
    processors: int
    seconds: float
    def __init__(self, done: int, processors: int, seconds: float) -> None: ...
    @property
    def share(self) -> float: ...

class Result(Dict[str, np.ndarray]):
    def __init__(
        self,
        outputs: Mapping[str, np.ndarray],
        findings: List[Finding],
        counters: Dict[str, int],
        seconds: float,
        memories: Optional[Dict[str, npt.NDArray[np.uint32]]] = None,
        files: Iterable[str] = (),
    ) -> None: ...
    findings: List[Finding]
    counters: Dict[str, int]
    seconds: float
    memories: Dict[str, npt.NDArray[np.uint32]]
    files: List[str]

def run(
    program: Union[Program, str],
    domain: DomainLike,
    inputs: Optional[Mapping[str, Any]] = None,
    constants: Optional[Mapping[str, ConstantLike]] = None,
    outputs: OutputsLike = None,
    *,
    ints: Optional[Mapping[str, LoopLike]] = None,
    bools: Optional[Mapping[str, bool]] = None,
    buffers: Optional[Mapping[int, Any]] = None,
    memories: Optional[Mapping[str, Union[int, np.ndarray]]] = None,
    registers: Optional[Mapping[str, Union[Plane, ConstantLike]]] = None,
    engine: Optional[str] = None,
    threads: int = 0,
    group: Optional[int] = None,
    instructions: Optional[int] = None,
    seconds: Optional[float] = None,
    check: bool = False,
    count: bool = False,
    clamp: bool = False,
    progress: Optional[Callable[[Progress], Any]] = None,
) -> Result: ...

TargetLike = Union[npt.DTypeLike, Tuple[npt.DTypeLike, Sequence[float]]]

class Drawn(Dict[str, np.ndarray]):
    def __init__(
        self,
        targets: Mapping[str, np.ndarray],
        depth: Optional[npt.NDArray[np.float32]],
        counts: Dict[str, int],
        findings: List[str],
    ) -> None: ...
    depth: Optional[npt.NDArray[np.float32]]
    counts: Dict[str, int]
    findings: List[str]

def draw(
    programs: Union[Program, str, bytes, PathLike[str], Sequence[Union[Program, str, bytes, PathLike[str]]]],
    size: Tuple[int, int],
    attributes: Optional[Mapping[str, Any]] = None,
    constants: Optional[Mapping[str, Any]] = None,
    textures: Optional[Mapping[str, Any]] = None,
    targets: Optional[Mapping[str, TargetLike]] = None,
    *,
    indices: Any = None,
    mesh: Union[None, str, PathLike[str]] = None,
    depth: Optional[float] = 1.0,
    topology: Optional[str] = None,
    instances: int = 1,
    samples: int = 1,
    blend: str = "none",
    cull: str = "none",
    engine: Optional[str] = None,
    instructions: Optional[int] = None,
    seconds: Optional[float] = None,
    check: bool = False,
    progress: Optional[Callable[[Progress], Any]] = None,
) -> Drawn: ...

class Job:
    def __init__(self, text: str, directory: Union[str, PathLike[str]] = ".", flags: Optional[Mapping[str, Any]] = None) -> None: ...
    @classmethod
    def open(cls, path: Union[str, PathLike[str]], flags: Optional[Mapping[str, Any]] = None) -> Job: ...
    def check(self) -> List[Finding]: ...
    def run(self, files: bool = False, progress: Optional[Callable[[Progress], Any]] = None) -> Result: ...
    def trace(self, column: int, row: int) -> Trace: ...

class Trace:
    html: str
    def __init__(self, html: str, lines: str) -> None: ...
    @property
    def steps(self) -> List[Dict[str, Any]]: ...
    def save(self, path: Union[str, PathLike[str]]) -> None: ...

class Device:
    GPU: int
    GPUB: int
    SYS: int
    SYSC: int
    def __init__(
        self,
        isa: str = "x1k",
        engine: Optional[str] = None,
        threads: int = 0,
        group: Optional[int] = None,
        instructions: Optional[int] = None,
        seconds: Optional[float] = None,
        check: bool = False,
    ) -> None: ...
    def allocate(self, size: int, arena: int = 0) -> int: ...
    def write(self, address: int, data: Any) -> None: ...
    def read(self, address: int, size: int, dtype: npt.DTypeLike = ...) -> np.ndarray: ...
    def submit(self, commands: Union[str, Sequence[int], np.ndarray], progress: Optional[Callable[[Progress], Any]] = None) -> Tuple[Dict[str, int], List[Finding]]: ...

class Replayed(Drawn):
    def __init__(
        self,
        targets: Mapping[str, np.ndarray],
        draws: List[Dict[str, Any]],
        problems: List[Dict[str, Any]],
        submissions: int,
    ) -> None: ...
    draws: List[Dict[str, Any]]
    problems: List[Dict[str, Any]]
    submissions: int

class Capture:
    def __init__(self, data: Any) -> None: ...
    @classmethod
    def open(cls, path: Union[str, PathLike[str]]) -> Capture: ...
    def __len__(self) -> int: ...
    def words(self, submission: int) -> npt.NDArray[np.uint32]: ...
    def text(self, submission: int) -> str: ...
    def check(self) -> List[Finding]: ...
    def replay(self, draw: Optional[int] = None, engine: Optional[str] = None) -> Replayed: ...

class Picture:
    array: np.ndarray
    def __init__(self, array: Any) -> None: ...
    def png(self) -> bytes: ...
    def save(self, path: Union[str, PathLike[str]]) -> None: ...

def command_words(commands: str) -> List[int]: ...
def command_text(words: Sequence[int]) -> str: ...
