from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import ctm
import numpy as np

__all__ = ["RayExecutor", "run", "sweep"]

RETRIES: int
SHARDS: int

def run(
    program: Union[ctm.Program, str],
    domain: ctm.DomainLike,
    inputs: Optional[Mapping[str, Any]] = None,
    constants: Optional[Mapping[str, Any]] = None,
    outputs: ctm.OutputsLike = None,
    *,
    halo: Optional[Mapping[str, int]] = None,
    shards: Optional[int] = None,
    executor: Any = None,
    retries: int = 3,
    **options: Any,
) -> Dict[str, Any]: ...
def sweep(
    program: Union[ctm.Program, str],
    domain: ctm.DomainLike,
    parameters: Sequence[Mapping[str, Any]],
    *,
    executor: Any,
    reduce: Optional[Callable[[Dict[str, np.ndarray]], Any]] = None,
    retries: int = 3,
    **arguments: Any,
) -> List[Any]: ...
def split(first: int, last: int, shards: int) -> List[Tuple[int, int]]: ...

class RayExecutor:
    def __init__(self, **options: Any) -> None: ...
    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any: ...
