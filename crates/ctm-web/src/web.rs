//! The interface to JavaScript.

use ctm_ide::serve::Local;
use std::collections::VecDeque;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log(text: &str);
}

/// Errors of ctm itself appear in the console, with their place.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| log(&info.to_string())));
}

/// The page's answers.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Page {
    page: Local,
    /// Files that have been added and not put yet.
    added: Vec<(String, Vec<u8>)>,
    /// Numbers of the last answer's outputs that have not been taken yet.
    numbers: VecDeque<Vec<u8>>,
}

#[wasm_bindgen]
impl Page {
    /// The page with the examples.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer to a question, both JSON, but for the numbers of its outputs.
    pub fn ask(&mut self, name: &str, question: &str) -> String {
        let (answer, numbers) = self.page.ask_apart(name, question);
        self.numbers = numbers.into();
        answer
    }

    /// The numbers of the last answer's next output, as bytes; none after the last one.
    pub fn numbers(&mut self) -> Option<Vec<u8>> {
        self.numbers.pop_front()
    }

    /// Adds a file of the user to those that [`Page::put`] puts.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.added.push((name, bytes));
    }

    /// Puts the added files beside those that are there; the names of entries that can be opened.
    ///
    /// # Errors
    /// In words: a name leads out of the folder, or a program cannot be opened.
    pub fn put(&mut self) -> Result<Vec<String>, String> {
        let added = std::mem::take(&mut self.added);
        self.page.put(&added)
    }
}

/// [`crate::checks::random`].
#[cfg(feature = "checks")]
#[wasm_bindgen]
pub fn random(first: u32, count: u32) -> String {
    crate::checks::random(first.into(), count.into())
}

/// [`crate::checks::vectors`].
#[cfg(feature = "checks")]
#[wasm_bindgen]
pub fn vectors() -> String {
    crate::checks::vectors()
}
