//! Tests of `src/lib.rs`.

use super::*;

#[test]
fn a_difference_is_never_lost() {
    let difference = || {
        let message = "the engine gave 1, the reference 2".to_owned();
        Some(Difference { pc: None, position: None, message })
    };
    let outcome = report((Ok(Outcome::default()), difference()), 7).unwrap_or_default();
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!((outcome.findings[0].rule, outcome.findings[0].pc), (DIFFERENCE, 7));
    let at = Position { i: 3, j: 4 };
    let fault = Fault { kind: FaultKind::InstructionBudget { limit: 5 }, pc: 9, position: Some(at) };
    let Err(found) = report((Err(fault.clone()), difference()), 7) else { panic!("no fault") };
    assert_eq!((found.code(), found.pc, found.position), (DIFFERENCE, 9, Some(at)));
    let FaultKind::EnginesDisagree { message } = found.kind else { panic!("{found:?}") };
    assert!(message.starts_with("the engine gave 1, the reference 2; the reference ended with a fault: "), "{message}");
    assert_eq!(report((Err(fault.clone()), None), 7), Err(fault));
}
