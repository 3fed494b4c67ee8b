//! Requests of the page, read from JSON. Only these keys take memory; others are skipped.

#[cfg(test)]
use super::wire::Typed;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// Texts of one job that the page holds.
const MOST_FILES: usize = 64;

macro_rules! question {
    ($($(#[doc = $doc:literal])* $field:ident: $type:ty,)*) => {
        /// A question: an object, each key of which may be missing.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(default)]
        pub(super) struct Question {
            $($(#[doc = $doc])* pub(super) $field: $type,)*
        }

        /// It in TypeScript.
        #[cfg(test)]
        pub(super) fn types() -> String {
            let mut out = String::from("\nexport interface Question {\n");
            $($(out.push_str(&format!("  /**{} */\n", $doc));)*
            out.push_str(&format!("  {}?: {};\n", stringify!($field), <$type as Typed>::name()));)*
            out.push_str("}\n");
            out
        }
    };
}

question! {
    /// The open entry.
    entry: Option<String>,
    /// Its texts as the page has them, by name.
    files: Files,
    /// The pass, draw or launch, from 0.
    launch: Option<usize>,
    /// Of a draw: which run of the pixel program for the pixel, from 0; none: the last.
    fragment: Option<u64>,
    /// Of a draw: `vertex` for the vertex program, where `at` is the vertex's number and instance.
    stage: Option<String>,
    /// Sliders that have been moved: the number in the answer of `run`, and the value.
    sliders: Vec<(usize, f64)>,
    /// How far the viewer of a draw has moved around the point that it sees: degrees to the right, and up.
    turn: Option<[f64; 2]>,
    /// Its distance, as a multiple of the job's.
    distance: Option<f64>,
    /// The point of a draw's animation, 0 to 1: how much of `spin` its meshes have turned.
    time: Option<f64>,
    /// A number that the page chooses: `progress` asks by it how far a profile is.
    ticket: Option<u64>,
    /// The processor or pixel: column and row.
    at: Option<[u32; 2]>,
    /// The place that `why` asks about.
    value: Option<String>,
    /// `why` asks about its value before this step.
    step: Option<usize>,
    /// A program.
    text: Option<String>,
    /// The name of its file.
    name: Option<String>,
    /// Its language, as editors call it.
    language: Option<String>,
    /// A place in the text, in units of UTF-16.
    offset: Option<u64>,
    /// A word of the manual.
    topic: Option<String>,
}

impl Question {
    /// The program's text.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or("")
    }
}

/// Texts by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(pub(super) BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Files {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = BTreeMap<String, String>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MOST_FILES} texts by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut texts = BTreeMap::new();
                while let Some((name, text)) = map.next_entry()? {
                    texts.insert(name, text);
                    if texts.len() > MOST_FILES {
                        return Err(Error::custom(format!("there are more than {MOST_FILES} texts")));
                    }
                }
                Ok(texts)
            }
        }
        from.deserialize_map(Texts).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_and_what_they_do_not_have_is_skipped() {
        let question: Question = serde_json::from_str(
            r#"{"entry":"a","files":{"x":"1"},"launch":null,"at":[3,4],"text":"t","more":[{},[[1]]],"language":null}"#,
        )
        .unwrap();
        assert_eq!((question.entry.as_deref(), question.at, question.text()), (Some("a"), Some([3, 4]), "t"));
        assert_eq!((question.launch, question.files.0.len()), (None, 1));
        let many: Vec<String> = (0..=MOST_FILES).map(|n| format!("\"{n}\":\"\"")).collect();
        for text in
            [r#"{"text":5}"#, r#"{"at":[1]}"#, r#"{"files":[]}"#, &format!("{{\"files\":{{{}}}}}", many.join(","))]
        {
            assert!(serde_json::from_str::<Question>(text).is_err(), "{text}");
        }
    }
}
