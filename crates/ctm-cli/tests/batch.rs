//! Many jobs in one process, and random jobs with their data.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
use serde_json::Value;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_list_of_jobs_gives_an_object_each_in_its_order() {
    let d = Dir::new("batch-list");
    std::fs::create_dir_all(d.0.join("jobs")).unwrap();
    d.file("jobs/add.x1k", ".output colour = o0\n.const k = c0\nadd colour, r0, k\nend\n");
    d.file("jobs/wrong.x1k", "mvo o0, r0\n");
    d.file("jobs/endless.x1k", ".output o = o0\nagain: mov r1, r0\nfc jump func=0xff to=again\nmov o, r1\nend\n");
    d.file("jobs/job.toml", "program = \"add.x1k\"\ndomain = [0, 0, 1, 0]\n[constants.float]\nk = [5, 6, 7, 8]\n[[output]]\nslot = 0\nsave = \"sum.npy\"\n");
    let list = "# four jobs\nadd.x1k --size 2x1 --const k=1,2,3,4\n\nwrong.x1k --size 1x1\njob.toml\n'add.x1k' --size=1x1 --const \"c0=0.5,0,0,0\"\n";
    d.file("jobs/list.txt", list);
    let (code, stdout, stderr) = d.ctm(&["run", "--batch", "jobs/list.txt"]);
    assert_eq!((code, stderr.as_str()), (1, ""), "{stdout}");
    let all = objects(&stdout);
    let statuses: Vec<&str> = all.iter().map(|object| object["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["done", "wrong", "done", "done"]);
    assert_eq!(all.iter().map(|object| object["line"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 4, 5, 6]);
    assert_eq!(all[0]["outputs"][0]["values"], serde_json::json!([1.0, 2.0, 3.0, 4.0, 2.0, 2.0, 3.0, 4.0]));
    assert_eq!(all[3]["job"], "'add.x1k' --size=1x1 --const \"c0=0.5,0,0,0\"");
    assert!(all[1]["findings"][0]["message"].as_str().unwrap().contains("mvo"));
    assert!(d.0.join("jobs/sum.npy").is_file());
    // The same values as one job by itself, and with other numbers of jobs at a time.
    let alone = objects(&d.good(&["run", "jobs/add.x1k", "--size", "2x1", "--const", "k=1,2,3,4", "--json"]));
    assert_eq!(alone[0]["outputs"], all[0]["outputs"]);
    let (_, one, _) = d.ctm(&["run", "--batch", "jobs/list.txt", "--jobs", "1"]);
    let outputs = |text: &str| objects(text).into_iter().map(|object| object["outputs"].clone()).collect::<Vec<_>>();
    assert_eq!(outputs(&one), outputs(&stdout));
    // Flags of the command are for all lines, and a fault counts more than an error.
    d.file("jobs/list.txt", "endless.x1k --size 1x1\nwrong.x1k --size 1x1\n");
    let (code, stdout, _) = d.ctm(&["run", "--batch", "jobs/list.txt", "--budget-instructions", "1000"]);
    assert_eq!((code, objects(&stdout)[0]["status"].as_str()), (3, Some("fault")), "{stdout}");
    d.bad(&["run", "--batch", "absent.txt"], 1, &["absent.txt"]);
    d.bad(&["run", "jobs/add.x1k", "--batch", "jobs/list.txt"], 2, &["cannot be used with"]);
}

#[test]
fn random_jobs_have_their_data_and_run() {
    let d = Dir::new("batch-random");
    let shapes = [
        ("x1k", ""),
        ("x1k", "inputs=3,relative=yes"),
        ("r700", ""),
        ("r700", "fetches=yes"),
        ("r700", "stage=compute,memory=yes"),
        ("r700", "stage=vertex,fetches=yes,compiled=yes"),
    ];
    for (n, (isa, shape)) in shapes.into_iter().enumerate() {
        let folder = format!("jobs-{n}");
        d.good(&["random", "--isa", isa, "--shape", shape, "--job", "--count", "6", "--seed", "40", "-o", &folder]);
        let all = objects(&d.good(&["run", "--batch", &format!("{folder}/list.txt")]));
        assert_eq!(all.len(), 6);
        for (seed, object) in (40..).zip(&all) {
            assert_eq!(object["status"], "done", "{isa} {shape} {seed}: {object}");
            assert_eq!(object["job"], format!("{seed}/job.toml"));
            let files = object["files"].as_array().unwrap();
            assert!(!files.is_empty() && files.iter().all(|file| d.0.join(file.as_str().unwrap()).is_file()));
        }
        // The same seed gives the same job, and the engines agree.
        d.good(&["random", "--isa", isa, "--shape", shape, "--job", "--seed", "43", "-o", "one"]);
        assert_eq!(d.read("one/job.toml"), d.read(&format!("{folder}/43/job.toml")));
        d.good_noted(&["run", "one/job.toml", "--engine", "verify"]);
        std::fs::remove_dir_all(d.0.join("one")).unwrap();
    }
    d.bad(&["random", "--isa", "x1k", "--job"], 2, &["--output"]);
    d.bad(&["random", "--isa", "x1k", "--job", "--shape", "hostile=yes", "-o", "no"], 2, &["need not run"]);
}
