//! The run vectors of `tests/vectors/pvs` through the interpreter of vertex programs, and programs that do their worst.
#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_exec::pvs::{DecodedProgram, Vector, Vertex, run};
use ctm_exec::{Fault, FaultKind};
use ctm_isa::pvs::ops::Op;
use ctm_isa::pvs::{VertexProgram, flow};
use ctm_testkit::pvs::run_vectors::{self, VertexCase};

fn interpret(program: &VertexProgram, constants: &[Vector], vertex: &mut Vertex, budget: u64) -> Result<u64, Fault> {
    run(&DecodedProgram::new(program), constants, vertex, budget)
}

fn all(cases: &[VertexCase], least: usize) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let difference = run_vectors::difference(case, interpret)?;
            let text = ctm_isa::pvs::text::disassemble(&case.program, &ctm_isa::pvs::text::ListingOptions::default());
            Some(format!("{}: {difference}; truth: {}\n{text}", case.at, case.truth))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(cases.len() >= least, "{}", cases.len());
}

#[test]
fn every_operation_gives_its_bits() {
    let cases = run_vectors::alu();
    all(&cases, 500);
    let seen = run_vectors::operations(&cases);
    let missing: Vec<_> = Op::all().map(|op| op.info().mnemonic).filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

#[test]
fn every_path_is_taken() {
    all(&run_vectors::flow(), 25);
}

/// xorshift64*: the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }
}

/// No words, slots and constants make it panic or run on, and the same run gives the same registers.
#[test]
fn any_words_end() {
    let mut random = Random(0x0dd0_1234_5678_9abc);
    let (mut ends, mut faults) = (0, 0);
    for _ in 0..400 {
        let size = 1 + random.next() % 24;
        let mut program = VertexProgram::from_words(
            (0..size)
                .map(|_| {
                    loop {
                        // Mostly words with a meaning.
                        let mut words: [u32; 4] = std::array::from_fn(|_| random.next());
                        words[0] &= !0x10c0_0fe0 | random.next() & 0x0000_0700;
                        if random.next().is_multiple_of(40) || ctm_isa::pvs::Inst::decode(&words).is_ok() {
                            break words;
                        }
                    }
                })
                .collect(),
        );
        let mask = size.next_power_of_two() - 1;
        let registers = std::array::from_fn(|_| {
            [random.next() & (mask << 16 | mask), random.next() & (mask << 16 | mask), random.next()]
        });
        program.flow = flow::from_registers(random.next() & random.next(), &registers);
        (program.const_base, program.const_max) = (random.next() as u8, random.next() as u8);
        let constants: Vec<Vector> = (0..random.next() % 300).map(|_| std::array::from_fn(|_| random.next())).collect();
        let inputs: Vec<Vector> = (0..16).map(|_| std::array::from_fn(|_| random.next())).collect();
        let runs = [(), ()].map(|()| {
            let mut vertex = Vertex::new(&inputs);
            let result = interpret(&program, &constants, &mut vertex, 5000);
            (result, vertex)
        });
        assert_eq!(runs[0], runs[1]);
        match &runs[0].0 {
            Ok(_) => ends += 1,
            Err(fault) => {
                assert!(!matches!(fault.kind, FaultKind::EnginesDisagree { .. }));
                faults += 1;
            }
        }
    }
    assert!(ends > 5 && faults > 100, "{ends} {faults}");
}

/// Programs of the generator check clean, come back through their text, end, and depend on what they compute.
#[test]
fn random_programs_are_legal_and_end() {
    use ctm_isa::pvs::random::{self, RandomContents};
    use ctm_isa::pvs::text::{ListingOptions, assemble, disassemble};
    let mut operations = std::collections::BTreeSet::new();
    let mut outputs = std::collections::BTreeSet::new();
    for seed in 0..600 {
        let some = |bit: u64| seed >> bit & 1 == 0;
        let shape = RandomContents {
            instructions: 20 + seed as usize % 60,
            flow: some(0),
            dual: some(1),
            predicates: some(2),
            relative: some(3),
        };
        let program = random::program(seed, &shape);
        let text = disassemble(&program, &ListingOptions::default());
        let found = ctm_isa::pvs::check::check(&program);
        assert!(found.is_empty(), "seed {seed}: {found:#?}\n{text}");
        assert_eq!(
            assemble(&text).program.map(|back| VertexProgram { spans: Vec::new(), ..back }),
            Some(program.clone()),
            "{text}"
        );
        for inst in program.words.iter().map(|words| ctm_isa::pvs::Inst::decode(words).unwrap()) {
            operations.insert(inst.op.name());
            operations.extend(inst.dual().map(|(op, _)| op.name()));
        }
        let mut constants = vec![[0; 4]; 256];
        program.literals.iter().for_each(|literal| constants[usize::from(literal.index)] = literal.bits);
        let inputs: Vec<Vector> =
            (0..4).map(|n| [1.5f32, -2.0, 0.25, 3.0].map(|x| (x * (n as f32 + 1.0)).to_bits())).collect();
        let mut vertex = Vertex::new(&inputs);
        interpret(&program, &constants, &mut vertex, 1_000_000)
            .unwrap_or_else(|fault| panic!("seed {seed}: {fault:?}\n{text}"));
        outputs.insert(vertex.outputs);
    }
    assert!(outputs.len() > 550, "{}", outputs.len());
    let missing: Vec<_> = Op::all().map(Op::name).filter(|name| !operations.contains(name)).collect();
    assert_eq!(missing, ["VE_FLT2FIX_DX_RND", "MATH_NO_OP"]);
}
