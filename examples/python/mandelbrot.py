"""The Mandelbrot set, by an X1K program, as a picture. Run: python examples/python/mandelbrot.py [FILE]"""

import pathlib
import sys

import ctm

here = pathlib.Path(__file__).resolve().parent
program = ctm.Program.open(here.parent / "mandelbrot" / "mandelbrot.x1k")
for finding in program.check():
    print(finding)

# Left edge, top edge, width of a pixel.
done = ctm.run(program, (512, 512), constants={"view": (-2.25, -1.5, 3 / 512)})
colour = done["colour"]

path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png")
ctm.Picture(colour).save(path)
print(f"{path}: {colour.shape[1]} x {colour.shape[0]}, {done.seconds * 1000:.1f} ms")
