import signal
import threading
import time

import numpy as np
import pytest

import ctm

SLOW = """
.output o = o0
.int n = i0 (255, 0, 0)
 rep n
 rep n
 rep n
 rep n
 add r1, r1, 1
 endrep
 endrep
 endrep
 endrep
 mov o, r1
"""
SHORT = dict(instructions=0)


def test_a_line_stays_a_line(axpy):
    for n in [1, 4, 4096, 4097, 10000]:
        x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
        done = ctm.run(axpy, n, {"x": x, "y": y}, {"a": 2}, {"sum": 1})
        assert done["sum"].shape == (n,) and (done["sum"] == 2 * x + 1).all()
        x4 = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
        done = ctm.run(axpy, n, {"x": x4, "y": x4}, {"a": 2})
        assert done["sum"].shape == (n, 4) and (done["sum"] == 3 * x4).all()


def test_pictures_keep_their_shape(axpy):
    x = np.arange(6 * 5 * 4, dtype=np.float32).reshape(6, 5, 4)
    done = ctm.run(axpy, (6, 5), {"x": x, "y": x}, {"a": 1})
    assert done["sum"].shape == (6, 5, 4) and (done["sum"] == 2 * x).all()
    done = ctm.run(axpy, (6, 5), {"x": x[..., 0], "y": x[..., 0]}, {"a": 1}, {"sum": 1})
    assert done["sum"].shape == (6, 5) and (done["sum"] == 2 * x[..., 0]).all()
    assert done.seconds > 0 and done.counters["processors"] == 30


def test_a_part_of_a_domain(position):
    whole = ctm.run(position, (16, 12))["o"]
    part = ctm.run(position, np.s_[4:10, 2:8])["o"]
    assert part.shape == (6, 6, 4) and (part == whole[4:10, 2:8]).all()


def test_dtypes(axpy):
    zero = np.zeros(4, np.float32)
    cases = [
        (np.array([0, 51, 102, 255], np.uint8), np.array([0, 51, 102, 255]) / np.float32(255)),
        (np.array([0, 65535, 3, 4], np.uint16), np.array([0, 65535, 3, 4]) / np.float32(65535)),
        (np.array([1, 2, 3, 4], np.float64), [1, 2, 3, 4]),
        (np.array([1, 2, 3, 4], np.float16), [1, 2, 3, 4]),
        (np.array([True, False, True, True]), [1, 0, 1, 1]),
        (np.array([1, 2, 3, 4], ">f4"), [1, 2, 3, 4]),
        ([1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4]),
        ([1, 2, 3, 400], [1, 2, 3, 400]),
        ((True, 2, 3.5, -4), [1, 2, 3.5, -4]),
        (np.arange(8, dtype=np.float32)[::2], [0, 2, 4, 6]),
    ]
    for x, expected in cases:
        done = ctm.run(axpy, 4, {"x": x, "y": zero}, {"a": 1}, {"sum": 1})["sum"]
        assert (done == np.asarray(expected, np.float32)).all(), x
    for x in [np.arange(4), np.arange(4) * 1j, np.array(["a"] * 4), np.array([None] * 4), np.arange(4, dtype=np.uint32)]:
        with pytest.raises(ctm.ArgumentError, match="dtype") as raised:
            ctm.run(axpy, 4, {"x": x, "y": zero}, {"a": 1})
        assert ("`.astype(np.float32)` gives its numbers" in str(raised.value)) == (x.dtype.kind in "iu")


def test_an_input_that_is_an_output_is_read_as_it_was(axpy):
    x = np.float32([1, 2, 3, 4])
    shifted = np.zeros(5, np.float32)
    shifted[:4] = x
    for array, into in [(x, x), (shifted[:4], shifted[1:])]:
        done = ctm.run(axpy, 4, {"x": array, "y": np.ones(4, np.float32)}, {"a": 2}, {"sum": into}, check=True)
        assert done["sum"].tolist() == [3, 5, 7, 9]
        found = [finding for finding in done.findings if finding.rule == "input-is-output"]
        assert len(found) == 1 and "input `x` shares memory with output `sum`" in found[0].message
    apart = ctm.run(axpy, 4, {"x": x.copy(), "y": x.copy()}, {"a": 2}, check=True)
    assert not [finding for finding in apart.findings if finding.rule == "input-is-output"]


def test_special_values_go_through(axpy):
    x = np.array([np.nan, np.inf, -0.0, 1], np.float32)
    done = ctm.run(axpy, 4, {"x": x, "y": np.zeros(4, np.float32)}, {"a": 1}, {"sum": 1})["sum"]
    assert np.isnan(done[0]) and np.isinf(done[1]) and done[3] == 1


def test_outputs_of_the_callers():
    program = ctm.Program(".output o = o0\nmov o.rg, 1")
    own = np.full((2, 2, 4), 7, np.float32)
    done = ctm.run(program, (2, 2), outputs={"o": own})
    assert done["o"] is own and (own == [1, 1, 7, 7]).all()
    turned = np.full((4, 2, 2), 7, np.float32).transpose(1, 2, 0)
    ctm.run(program, (2, 2), outputs={"o": turned})
    assert (turned == [1, 1, 7, 7]).all()
    larger = np.zeros((4, 6, 4), np.float32)
    ctm.run(program, (2, 2), outputs={"o": larger})
    assert larger[:2, :2, 0].all() and not larger[2:].any()
    own.flags.writeable = False
    with pytest.raises(ctm.ArgumentError, match="read-only"):
        ctm.run(program, (2, 2), outputs={"o": own})
    for wrong in [np.zeros((2, 2, 3), np.float32), np.zeros((2, 1), np.float32), np.zeros((2, 2, 4)), 3, 5, (1, "int32"), (1, "float99")]:
        with pytest.raises(ctm.ArgumentError):
            ctm.run(program, (2, 2), outputs={"o": wrong})


def test_arrays_that_share_memory(axpy):
    x = np.arange(8, dtype=np.float32)
    # The output overlaps an input by four elements: the input is copied first.
    done = ctm.run(axpy, 4, {"x": x[:4], "y": x[:4]}, {"a": 1}, {"sum": x[2:6]})
    assert (done["sum"] == [0, 2, 4, 6]).all() and (x == [0, 1, 0, 2, 4, 6, 6, 7]).all()
    both = ctm.Program(".output a = o0, b = o1\nmov a, 1\nmov b, 2")
    with pytest.raises(ctm.ArgumentError, match="share memory"):
        ctm.run(both, 4, outputs={"a": x[:4], "b": x[3:7]})


def test_domains_that_cannot_be(position):
    wrong = [0, -1, 5000 * 5000, (0, 4), (4, 5000), (4,), (1, 2, 3), float("nan"), 2.5, "4", None, (np.nan, 4), (slice(0, 8, 2), 4),
             (slice(4, 4), 4), (slice(None), 4), [4, 4], 10**30, (4, "x")]
    for domain in wrong:
        with pytest.raises((ctm.ArgumentError, TypeError)):
            ctm.run(position, domain)
    assert ctm.run(position, np.int64(3))["o"].shape == (3, 4)


def test_constants(axpy):
    x = np.ones((1, 4), np.float32)
    program = ctm.Program(".output o = o0\n.const k = c3\n.int n = i0\n.bool b = b0\n mov r1, 0\n rep n\n add r1, r1, k\n endrep\n mov o, r1")
    run = lambda k, n=2: ctm.run(program, 1, constants={"k": k}, ints={"n": n})["o"][0].tolist()
    assert run(2) == [4, 4, 4, 4] and run([1, 2, 3]) == [2, 4, 6, 0] and run(np.float64(1), (3, 0, 1)) == [3, 3, 3, 3]
    assert run(np.array([0x3F800000] * 4, np.uint32)) == [2, 2, 2, 2]
    for wrong in ["x", None, [1] * 5, [[1]], 1j, []]:
        with pytest.raises(ctm.ArgumentError):
            run(wrong)
    for wrong in [-1, 300, 2.5, (1, 2, 3, 4), (), (1, 2, 200)]:
        with pytest.raises(ctm.ArgumentError):
            run(1, wrong)
    with pytest.raises(ctm.ArgumentError, match="did you mean `k`"):
        ctm.run(program, 1, constants={"K": 1, "k": 1}, ints={"n": 1})
    with pytest.raises(ctm.ArgumentError, match="needs constant `a`"):
        ctm.run(axpy, 1, {"x": x, "y": x})


def test_samplers():
    program = ctm.Program(".input pic = s0\n.output o = o0\n add r1.rg, r0.rg, 4\n tex r2, pic, r1.rg\n mov o, r2")
    x = np.arange(4, dtype=np.float32)
    run = lambda **how: ctm.run(program, 4, {"pic": ctm.Sampler(x, **how)}, outputs={"o": 1})["o"].tolist()
    assert run() == [3, 3, 3, 3] and run(wrap="repeat") == [0, 1, 2, 3]
    assert run(wrap=("mirror", "clamp")) == [3, 2, 1, 0] and run(wrap="border", border=(9, 0, 0, 0)) == [9] * 4
    with pytest.raises(ctm.ArgumentError):
        ctm.Sampler(x, filter="cubic")
    with pytest.raises(ctm.ArgumentError):
        ctm.Sampler(x, wrap="around")


def test_engines_and_threads_give_the_same_bits(examples):
    program = ctm.Program.open(examples / "mandelbrot/mandelbrot.x1k")
    view = {"view": (-2.25, -1.5, 3 / 64, 0)}
    runs = [ctm.run(program, (64, 64), constants=view, **how)["colour"] for how in
            [{}, {"engine": "interp"}, {"engine": "verify"}, {"threads": 1}, {"group": 64}]]
    assert all((one.view(np.uint32) == runs[0].view(np.uint32)).all() for one in runs)
    with pytest.raises(ctm.ArgumentError, match="engine"):
        ctm.run(program, (4, 4), constants=view, engine="fast")
    with pytest.raises(ctm.ArgumentError, match="group"):
        ctm.run(program, (4, 4), constants=view, group=5)


def test_r700_programs(examples):
    program = ctm.Program.open(examples / "r700/saxpy/saxpy.psh")
    x = np.random.default_rng(1).random((16, 16, 4), np.float32)
    done = ctm.run(program, (16, 16), {"first": x, "second": x}, {"factor": 2})
    assert (done["pix0"] == 2 * x + x).all() and done.findings == []
    whole = ctm.Program(".stage pixel\n.resource numbers t0\n.sampler near s0\nALU:\n 0 x: ADD R0.x, R0.x, 0.5f\n y: ADD R0.y, R0.y, 0.5f\n"
                        "TEX:\n SAMPLE R1.xyzw, R0.xy__, numbers, near DENORM(XY)\nALU:\n 1 x: ADD_INT R1.x, R1.x, 1\nEXP_DONE: PIX0, R1.xyzw\n"
                        "END_OF_PROGRAM\n")
    n = np.arange(-3, 4, dtype=np.int32)
    assert (ctm.run(whole, 7, {"numbers": n}, outputs={"pix0": (1, "int32")})["pix0"] == n + 1).all()
    own = np.zeros(7, np.int32)
    ctm.run(whole, 7, {"numbers": n}, outputs={"pix0": own})
    assert (own == n + 1).all()


def test_faults_say_where():
    with pytest.raises(ctm.Fault) as raised:
        ctm.run(SLOW, (64, 64), instructions=1000)
    assert raised.value.code == "instruction-budget" and raised.value.pc is not None and raised.value.findings
    started = time.time()
    with pytest.raises(ctm.Fault, match="0.200 s"):
        ctm.run(SLOW, (64, 64), seconds=0.2, instructions=0)
    assert time.time() - started < 5
    for wrong in [-1.0, float("nan")]:
        with pytest.raises(ctm.ArgumentError):
            ctm.run(SLOW, (64, 64), seconds=wrong)


def test_checked_runs_report():
    done = ctm.run(".output o = o0\nmov o, r5", (4, 4), check=True, count=True)
    assert any("uninit" in f.rule for f in done.findings) and done.counters["groups"] == 1


def test_ctrl_c_ends_a_run():
    # A shell that runs the tests in the background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.time()
    with pytest.raises(KeyboardInterrupt):
        ctm.run(SLOW, (64, 64), **SHORT)
    assert time.time() - started < 5
    timer.join()


def test_progress_is_told_and_may_end_a_run():
    seen = []

    def progress(p):
        seen.append((p.done, p.processors, p.share, p.seconds))
        if len(seen) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ctm.run(SLOW, (64, 64), progress=progress, **SHORT)
    assert len(seen) == 3 and seen[0][1] == 64 * 64
    with pytest.raises(TypeError):
        ctm.run(SLOW, (64, 64), progress=1)


def test_the_lock_is_released():
    counted = [0]
    ended = threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(ctm.Fault):
        ctm.run(SLOW, (64, 64), seconds=0.3, instructions=0)
    ended.set()
    thread.join()
    assert counted[0] > 1000


def test_jobs(examples, tmp_path):
    job = ctm.Job.open(examples / "saxpy/job.toml")
    assert job.check() == []
    done = job.run()
    x, y = (np.load(examples / "saxpy" / name) for name in ("x.npy", "y.npy"))
    assert done["sum"].shape == (16, 16, 4) and np.allclose(done["sum"], 2.5 * x + y) and done.files == []
    (tmp_path / "one.x1k").write_text(".output o = o0\nmov o, 1")
    job = ctm.Job('program = "one.x1k"\ndomain = [0, 0, 3, 1]\n[[output]]\nslot = "o"\nsave = "one.npy"\n', tmp_path)
    done = job.run(files=True)
    assert (np.load(tmp_path / "one.npy") == done["o"]).all() and done["o"].shape == (2, 4, 4) and done.files
    with pytest.raises(ctm.ProgramError):
        ctm.Job("program = 5", tmp_path)
    smaller = ctm.Job.open(examples / "mandelbrot/job.toml", {"size": "32x32"}).run()
    assert smaller["colour"].shape == (32, 32, 4) and "<img" in smaller._repr_html_()


def test_traces(examples):
    trace = ctm.Job.open(examples / "mandelbrot/job.toml", {"size": "32x32"}).trace(5, 6)
    assert trace.html.lower().lstrip().startswith("<!doctype") and trace.steps and "iframe" in trace._repr_html_()


def test_devices(axpy):
    device = ctm.Device(check=True)
    address = device.allocate(64)
    device.write(address, np.arange(16, dtype=np.float32))
    assert (device.read(address, 64, np.float32) == np.arange(16)).all()
    counters, findings = device.submit(ctm.command_words("wait_for_idle"))
    assert counters["processors"] == 0 and isinstance(findings, list)
    assert "wait_for_idle" in ctm.command_text(ctm.command_words("wait_for_idle"))
    for wrong in [lambda: device.read(0xFFFFFFF0, 64), lambda: device.allocate(0), lambda: device.allocate(64, 7), lambda: device.read(address, 3, np.float32)]:
        with pytest.raises(ctm.ArgumentError):
            wrong()
    with pytest.raises(ctm.Fault):
        device.submit([0x12345678])
    with pytest.raises(ctm.ProgramError):
        ctm.command_words("no_such_command")


def test_an_input_that_is_read_in_place_is_as_large_as_the_domain():
    program = ctm.Program(".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nmul y, r1, 10")
    two, eight = np.float32([1, 2]), np.zeros(8, np.float32)
    for wrong in [two, eight]:
        with pytest.raises(ctm.ArgumentError, match="at each processor's own place only, of which the domain has 4 elements"):
            ctm.run(program, 4, {"x": wrong}, outputs={"y": 1})
    with pytest.raises(ctm.ArgumentError, match="the domain has 3 columns and 2 rows"):
        ctm.run(program, (2, 3), {"x": np.zeros((2, 2), np.float32)}, outputs={"y": 1})
    for given in [dict(inputs={"x": two}, clamp=True), dict(inputs={"x": ctm.Sampler(two)})]:
        assert (ctm.run(program, 4, outputs={"y": 1}, **given)["y"] == [10, 20, 20, 20]).all()
    # A part of a picture, and a table of its own size.
    part = ctm.run(program, np.s_[2:4, 0:3], {"x": np.ones((6, 6), np.float32)}, outputs={"y": 1})["y"]
    assert part.shape == (2, 3) and (part == 10).all()
    table = ctm.Program(".input x = s0\n.output y = o0\nmul r0, r0, 0.5\ntex r1, x, r0.rg\nmov y, r1")
    assert (ctm.run(table, 4, {"x": two}, outputs={"y": 1})["y"] == [1, 1, 2, 2]).all()


def test_constants_that_single_precision_does_not_hold(axpy):
    x = np.zeros(1, np.float32)
    with pytest.raises(ctm.ArgumentError, match="single precision holds numbers up to 3.4028235e38"):
        ctm.run(axpy, 1, {"x": x, "y": x}, {"a": 1e39})
    ctm.run(axpy, 1, {"x": x, "y": x}, {"a": np.inf})
    with pytest.raises(ctm.ArgumentError, match="no floating-point constant `i0`"):
        ctm.run(axpy, 1, {"x": x, "y": x}, {"a": 1, "i0": 2})


UNIFORMS = """; $UNIFORM_VARS[0].name = "m"
; $UNIFORM_VARS[0].type = "mat3x3"
; $UNIFORM_VARS[0].block = -1
; $UNIFORM_VARS[0].offset = 0
; $UNIFORM_VARS[1].name = "w"
; $UNIFORM_VARS[1].type = "float"
; $UNIFORM_VARS[1].count = 2
; $UNIFORM_VARS[1].block = -1
; $UNIFORM_VARS[1].offset = 12
.stage pixel
ALU:
 0 x: MOV R0.x, C2.x
 y: MOV R0.y, C1.z
 1 z: MOV R0.z, C3.x
 w: MOV R0.w, C4.x
EXP_DONE: PIX0, R0.xyzw
END_OF_PROGRAM
"""


def test_uniforms_of_a_container_have_all_of_their_numbers():
    program = ctm.Program(UNIFORMS, isa="r700")
    matrix = np.arange(1, 10, dtype=np.float32)
    for m in (matrix, matrix.reshape(3, 3), matrix.tolist()):
        assert ctm.run(program, 1, constants={"m": m, "w": (10, 20)})["pix0"].tolist() == [[7, 6, 10, 20]]
    with pytest.raises(ctm.ArgumentError, match="`w` is float.2. and takes 2 numbers"):
        ctm.run(program, 1, constants={"m": matrix, "w": (1, 2, 3)})


def test_registers_have_start_values():
    x1k = ctm.Program(".output y = o0\nadd y, r1, r2")
    r700 = ctm.Program(".stage pixel\nALU:\n x: ADD R1.x, R1.x, R2.x\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n", isa="r700")
    for program, output in ((x1k, "y"), (r700, "pix0")):
        registers = {"r1": ctm.Plane((0.5, 0, 0, 0), di=1, dj=(10,)), "R2": 2}
        done = ctm.run(program, (2, 3), outputs={output: 1}, registers=registers)[output]
        assert done.tolist() == [[2.5, 3.5, 4.5], [12.5, 13.5, 14.5]]
        for name, match in [("r128", "there are r0 to r127"), ("x", "there is no register `x`"), ("r", "there is no register")]:
            with pytest.raises(ctm.ArgumentError, match=match):
                ctm.run(program, 1, registers={name: 0})
        with pytest.raises(ctm.ArgumentError, match="register `r1` is given twice"):
            ctm.run(program, 1, registers={"r1": 0, "R1": 0})
        with pytest.raises(ctm.ArgumentError, match="one to four numbers are possible"):
            ctm.run(program, 1, registers={"r1": (1, 2, 3, 4, 5)})
    bits = ctm.run(r700, 3, outputs={"pix0": np.zeros(3, np.float32)}, registers={"r2": ctm.Plane(0, di=1, bits=True)})["pix0"]
    assert bits.tolist() == [0, 0, 0]  # 1 and 2 as bits are denormal numbers, which ADD flushes
