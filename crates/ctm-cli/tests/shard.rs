//! Jobs in parts: the files of shards, put together, are those of one run, byte for byte.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;

const PICTURE: &str = "\
.output colour = o0
.const step = c0
        mul colour.rg, r0.rg, step.rr | mov colour.a, 1
        end
";

const JOB: &str = "\
program = \"picture.x1k\"
domain = [0, 0, 12, 36]
[constants.float]
step = [0.015625, 0, 0, 0]
[[output]]
slot = \"colour\"
save = [\"whole.npy\", \"whole.png\", \"whole.pfm\", \"whole.raw\"]
";

const FILES: [&str; 4] = ["whole.npy", "whole.png", "whole.pfm", "whole.raw"];

#[test]
fn parts_make_the_whole() {
    let d = Dir::new("shards");
    d.file("picture.x1k", PICTURE).file("job.toml", JOB);
    d.good(&["run", "job.toml"]);
    let whole = FILES.map(|file| d.read(file));
    for parts in [1, 3, 19] {
        let d = Dir::new(&format!("shards-{parts}"));
        d.file("picture.x1k", PICTURE).file("job.toml", JOB);
        for part in 1..=parts {
            d.good(&["run", "job.toml", "--shard", &format!("{part}/{parts}")]);
        }
        d.good(&["merge", FILES[0], FILES[1], FILES[2], FILES[3]]);
        for (file, whole) in FILES.iter().zip(&whole) {
            assert!(d.read(file) == *whole, "{file} of {parts} parts");
        }
    }
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let d = Dir::new("shards-refused");
    let scatter = ".uncached\n.output o = o0\n.reg cell = r1\n mov cell, r0\n mov umrt[each], cell\n end\n";
    d.file("picture.x1k", PICTURE).file("scatter.x1k", scatter).file("job.toml", JOB);
    d.bad(&["run", "scatter.x1k", "--size", "4x4", "--shard", "1/2"], 1, &["error[shard]", "not its processors' own"]);
    d.bad(&["run", "job.toml", "--repeat", "2", "--shard", "1/2"], 1, &["repeats its pass"]);
    d.bad(&["run", "job.toml", "--shard", "1/20"], 1, &["37 rows, which are 19 pairs"]);
    for wrong in ["0/2", "3/2", "1", "a/b", "-1/2", "1/0", "+1/2"] {
        d.bad(&["run", "job.toml", &format!("--shard={wrong}")], 2, &["2/4"]);
    }
}

#[test]
fn parts_that_do_not_fit_are_told() {
    let d = Dir::new("shards-missing");
    d.file("picture.x1k", PICTURE).file("job.toml", JOB);
    d.bad(&["merge", "whole.npy"], 1, &["no parts", "whole.1-of-2.npy"]);
    d.good(&["run", "job.toml", "--shard", "2/3"]);
    d.bad(&["merge", "whole.npy"], 1, &["missing", "whole.1-of-3.npy, whole.3-of-3.npy"]);
    d.good(&["run", "job.toml", "--shard", "1/2"]);
    d.bad(&["merge", "whole.npy"], 1, &["cuts into 2 and 3"]);
    let d = Dir::new("shards-unlike");
    d.file("picture.x1k", PICTURE).file("job.toml", JOB);
    d.good(&["run", "job.toml", "--shard", "1/2"]);
    d.file("whole.2-of-2.npy", "no array").file("whole.2-of-2.png", "");
    d.bad(&["merge", "whole.npy"], 1, &["whole.2-of-2.npy"]);
    d.bad(&["merge", "whole.png"], 1, &["whole.2-of-2.png"]);
}
