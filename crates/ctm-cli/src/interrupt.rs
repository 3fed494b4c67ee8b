//! Ctrl-C: ends a run, as a budget does; pressed again, it ends the program.

use crate::console::Exit;
use ctm_exec::Control;

/// The control that Ctrl-C cancels. A subcommand that runs something takes it once.
pub(crate) fn control() -> Control {
    let control = Control::new();
    let pressed = control.clone();
    // Where there can be no handler, Ctrl-C ends the program as it always does.
    let _ = ctrlc::set_handler(move || {
        if pressed.is_cancelled() {
            std::process::exit(Exit::Interrupted.code().into());
        }
        pressed.cancel();
    });
    control
}
