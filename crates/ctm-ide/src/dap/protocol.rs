//! The few shapes of messages of the Debug Adapter Protocol that are made in several places.

use serde_json::{Value, json};

/// An event; the number comes when it is sent.
pub(super) fn event(name: &str, body: Value) -> Value {
    json!({ "type": "event", "event": name, "body": body })
}
