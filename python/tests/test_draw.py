"""Draws on arrays."""

import pathlib

import numpy as np
import pytest

import ctm

FLAT = ".output o = o0\n.const k = c0\nmov o, k"
CORNERS = np.float32([[-1, -1], [3, -1], [-1, 3]])


@pytest.fixture(scope="module")
def cube(examples):
    folder = examples / "draw/cube"
    return ctm.Program.open(folder / "cube.vsh"), ctm.Program.open(folder / "cube.psh")


def look(angle):
    """A matrix of a camera that looks at the origin, column by column."""
    near, far, scale = 1.0, 10.0, 1.6
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, -4.5], [0, 0, 0, 1]])
    project = np.array([[scale, 0, 0, 0], [0, scale, 0, 0], [0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)], [0, 0, -1, 0]])
    return (project @ turn).T


def test_a_pair_with_arrays(cube):
    texture = np.zeros((4, 4, 3), np.uint8)
    texture[..., 1] = 255
    done = ctm.draw(cube, (48, 64), constants={"mvp": look(0.4)}, textures={"colour": texture}, mesh="cube")
    picture = done["pix0"]
    assert picture.shape == (48, 64, 4) and picture.dtype == np.uint8
    middle = picture[24, 32]
    assert middle[1] > 40 and middle[0] == 0 and done.depth[24, 32] < 1
    assert picture[0, 0].tolist() == [0, 0, 0, 255] and done.depth[0, 0] == 1
    assert done.counts["primitives"] == 12 and done.findings == []
    # The same vertices as arrays: one triangle of the cube.
    square = {"position": np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]), "normal": np.float32([[0, 0, 1, 0]] * 4), "texcoord": np.zeros((4, 2))}
    again = ctm.draw(cube, (48, 64), square, {"mvp": look(0.0)}, {"colour": texture}, indices=[0, 1, 2, 0, 2, 3])
    assert again.counts["vertices"] == 4 and again["pix0"][24, 32, 1] > 40


def test_engines_and_samples_agree(cube):
    texture = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
    given = dict(constants={"mvp": look(0.7)}, textures={"colour": ctm.Sampler(texture, wrap="mirror")}, mesh="torus", samples=4)
    fast, slow = (ctm.draw(cube, (24, 32), engine=engine, **given) for engine in ("jit", "interp"))
    assert np.array_equal(fast["pix0"], slow["pix0"]) and np.array_equal(fast.depth, slow.depth)


def test_targets_of_numbers():
    done = ctm.draw(FLAT, (2, 3), {"position": CORNERS}, {"k": [0.25, -3, 1e9, 7]}, targets={"pix0": np.float32}, depth=None)
    assert done["pix0"].dtype == np.float32 and done["pix0"][1, 2].tolist() == [0.25, -3, 1e9, 7]
    assert done.depth is None
    away = ctm.draw(FLAT, (2, 2), {"position": CORNERS + 9}, {"k": 1}, targets={"pix0": ("float32", (1, 2, 3, 4))})
    assert away["pix0"][0, 0].tolist() == [1, 2, 3, 4] and away.counts["pixels"] == 0
    assert away._repr_html_().startswith("<p><code>pix0")


def test_blending_and_culling():
    half = {"k": [1, 1, 1, 0.5]}
    assert ctm.draw(FLAT, (1, 1), {"position": CORNERS}, half, blend="alpha")["pix0"][0, 0, 0] == 128
    assert ctm.draw(FLAT, (1, 1), {"position": CORNERS}, half, cull="back").counts["pixels"] == 1
    assert ctm.draw(FLAT, (1, 1), {"position": CORNERS}, half, cull="front").counts["pixels"] == 0


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(size=(0, 3)), "a side of the picture is 0"),
        (dict(size=3), "(rows, columns)"),
        (dict(attributes={"position": np.zeros((3, 5), np.float32)}), "shape (3, 5)"),
        (dict(attributes={"position": CORNERS, "texcoord": CORNERS[:2]}), "has 2 elements"),
        (dict(indices=[0, 1, 3]), "index 3 names no vertex"),
        (dict(indices=[0.5]), "`indices` has dtype float64"),
        (dict(constants={"kk": 1}), "no constant `kk`"),
        (dict(constants={"k": "red"}), "must be numbers"),
        (dict(textures={"t0": np.zeros(4)}), "shape (4,)"),
        (dict(targets={"o0": np.uint8}), "no target `o0`"),
        (dict(targets={"pix0": np.float64}), "cannot have dtype float64"),
        (dict(targets={"pix0": (np.uint8, (1, 2))}), "has 2 numbers"),
        (dict(topology="blobs"), "there are points, lines"),
        (dict(blend="mix"), "there are none, alpha"),
        (dict(samples=3), "allowed is 1, 2, 4 or 8"),
        (dict(engine="warp"), "the engine is `warp`"),
        (dict(mesh="sofa", attributes=None), "no mesh `sofa`"),
        (dict(programs=[]), "a vertex and a pixel program"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_told(change, message):
    given = dict(programs=FLAT, size=(2, 2), attributes={"position": CORNERS}, constants={"k": 1})
    given.update(change)
    with pytest.raises(ctm.ArgumentError) as error:
        ctm.draw(given.pop("programs"), given.pop("size"), **given)
    assert message in str(error.value)


def test_faults_and_budgets(examples):
    loop = ".output o = o0\nagain: mov r1, r0\n fc jump func=0xff to=again\n mov o, r1"
    with pytest.raises(ctm.Fault) as fault:
        ctm.draw(loop, (4, 4), {"position": CORNERS}, instructions=1000)
    assert fault.value.code == "instruction-budget" and fault.value.pc is not None

    class Enough(Exception):
        pass

    def stop(progress):
        raise Enough

    with pytest.raises(Enough):
        ctm.draw(loop, (64, 64), {"position": CORNERS}, instructions=0, progress=stop)


def test_containers_are_drawn_from_files_and_bytes(cube, examples, tmp_path):
    # What `ctm asm cube.vsh cube.psh -o both.gsh` writes.
    file = pathlib.Path(__file__).parents[2] / "fuzz/seeds/gfd/cube.gsh"
    given = dict(constants={"mvp": look(0.4)}, textures={"colour": np.ones((2, 2, 4), np.float32)}, mesh="cube")
    expected = ctm.draw(cube, (48, 64), **given)
    parts = ctm.Program.open(file, which=0), ctm.Program.open(file, which="pixel")
    for programs in [file, str(file), file.read_bytes(), parts, (examples / "draw/cube/cube.vsh", examples / "draw/cube/cube.psh")]:
        done = ctm.draw(programs, (48, 64), **given)
        assert np.array_equal(done["pix0"], expected["pix0"]) and np.array_equal(done.depth, expected.depth)
    assert parts[1].inputs == {"colour": "t0"} and parts[0].constants["mvp"] == "C0"
    with pytest.raises(ctm.ProgramError, match="choose one with `which`") as raised:
        ctm.Program.open(file)
    assert "--program" not in str(raised.value)
    with pytest.raises(ctm.Error, match="mvp"):
        ctm.draw(file, (4, 4), constants={"mpv": look(0.4)})
    with pytest.raises(FileNotFoundError):
        ctm.draw("nowhere.gsh", (4, 4))
