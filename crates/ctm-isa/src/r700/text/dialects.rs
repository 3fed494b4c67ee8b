//! Hints for operations of other assemblers: the X1K's, ARB programs, Direct3D, TGSI.

use super::mnemonics;

#[rustfmt::skip]
static OPERATIONS: &[(&str, &str)] = &[
    ("abs", "bars take the absolute value of an operand: `MOV R0.x, |R1.x|`"),
    ("neg", "a sign negates an operand: `MOV R0.x, -R1.x`"),
    ("sub", "negate the second operand: `ADD R0.x, R1.x, -R2.x`"),
    ("div", "multiply by the reciprocal: `t: RCP_e R3.x, R2.x`, and in the next group `x: MUL R0.x, R1.x, PS`"),
    ("rcp", "`RCP_e R0.x, R1.x`, in unit t"),
    ("rsq", "`RSQ_e R0.x, R1.x`, in unit t"),
    ("sqrt", "`SQRT_e R0.x, R1.x`, in unit t"),
    ("ex2", "`EXP_e R0.x, R1.x`, in unit t"),
    ("log", "`LOG_e R0.x, R1.x`, in unit t: the logarithm to base two"),
    ("lg2", "`LOG_e R0.x, R1.x`, in unit t"),
    ("ln2", "`LOG_e R0.x, R1.x`, in unit t"),
    ("pow", "`t: LOG_e R3.x, R1.x`, then `x: MUL R3.x, R2.x, PS`, then `t: EXP_e R0.x, R3.x`"),
    ("mad", "`MULADD R0.x, R1.x, R2.x, R3.x`"),
    ("fma", "`MULADD R0.x, R1.x, R2.x, R3.x`, which rounds twice"),
    ("lrp", "two groups: `ADD R4.x, R2.x, -R3.x`, then `MULADD R0.x, R1.x, R4.x, R3.x`"),
    ("slt", "the operands the other way round: `SETGT R0.x, R2.x, R1.x`"),
    ("sle", "the operands the other way round: `SETGE R0.x, R2.x, R1.x`"),
    ("sgt", "`SETGT R0.x, R1.x, R2.x`"),
    ("sge", "`SETGE R0.x, R1.x, R2.x`"),
    ("seq", "`SETE R0.x, R1.x, R2.x`"),
    ("sne", "`SETNE R0.x, R1.x, R2.x`"),
    ("cmp", "`CNDGE R0.x, R1.x, R2.x, R3.x`: R1.x at or above 0 takes R2.x"),
    ("frc", "`FRACT R0.x, R1.x`"),
    ("frac", "`FRACT R0.x, R1.x`"),
    ("flr", "`FLOOR R0.x, R1.x`"),
    ("dp3", "`DOT4` in the units x, y, z and w of a group, with `0.0f` as the operands of w"),
    ("dp4", "`DOT4` in the units x, y, z and w of a group"),
    ("dot", "`DOT4` in the units x, y, z and w of a group"),
    ("tex2d", "`SAMPLE R0.xyzw, R1.xy__, t0, s0` behind a `TEX:` line"),
    ("texld", "`SAMPLE R0.xyzw, R1.xy__, t0, s0` behind a `TEX:` line"),
    ("txp", "multiply by the reciprocal of w, then `SAMPLE R0.xyzw, R1.xy__, t0, s0` behind a `TEX:` line"),
    ("kil", "`KILLGT ____, 0.0f, R0.x` kills where R0.x is below 0"),
    ("texkill", "`KILLGT ____, 0.0f, R0.x` kills where R0.x is below 0, one for each element"),
    ("if", "`ALU_PUSH_BEFORE:` with `PREDGT ____, R0.x, R1.x UPDATE_EXEC_MASK UPDATE_PRED`, then `JUMP POP_CNT(1) ADDR(end)`; the block ends in `POP`"),
    ("endif", "`POP POP_CNT(1) ADDR(end)` behind the block, and the label behind that"),
    ("rep", "`LOOP_START_NO_AL i0 ADDR(out)`, ended by `LOOP_END ADDR(body)`"),
    ("endrep", "`LOOP_END ADDR(body)`"),
    ("def", "a literal says its bits and value where it is read: `(0x3F000000, 0.5f).x`"),
    ("dcl", "registers are there from the beginning; `.reg position R1` gives one a name"),
    ("end", "`END_OF_PROGRAM`"),
];

/// The equivalent here.
pub(super) fn instead(word: &str) -> Option<String> {
    let small = word.to_ascii_lowercase();
    if let Some(plain) = small.strip_suffix("_sat") {
        let capitals = plain.to_ascii_uppercase();
        if mnemonics::mnemonic(&capitals).is_some() {
            return Some(format!("a clamped result has `CLAMP` at the end of the line: `{capitals} R0.x, R1.x CLAMP`"));
        }
    }
    OPERATIONS.iter().find(|row| row.0 == small).map(|row| row.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{OPERATIONS, instead};
    use crate::r700::text::{TextOptions, assemble, cf, fetch, mnemonics};

    #[test]
    fn only_words_that_mean_nothing_here_are_explained() {
        for (word, _) in OPERATIONS {
            let capitals = word.to_ascii_uppercase();
            assert_eq!(mnemonics::mnemonic(&capitals), None, "{word}");
            assert!(!cf::is_mnemonic(&capitals) && !fetch::is_mnemonic(&capitals), "{word}");
        }
    }

    /// The lines that are advised are lines of the language.
    #[test]
    fn what_is_advised_assembles() {
        for (_, advice) in OPERATIONS {
            for line in
                advice.split('`').skip(1).step_by(2).filter(|line| line.contains(", ") && !line.starts_with('('))
            {
                let clause = if line.starts_with("SAMPLE") { "TEX" } else { "ALU" };
                let found = assemble(&format!("{clause}:\n {line}\nEND_OF_PROGRAM\n"), &TextOptions::default());
                assert!(found.program.is_some(), "{line}: {:?}", found.diagnostics);
            }
        }
        assert!(instead("MOV_SAT").is_some_and(|advice| advice.contains("`MOV R0.x, R1.x CLAMP`")));
        assert_eq!(instead("xyzzy"), None);
    }
}
