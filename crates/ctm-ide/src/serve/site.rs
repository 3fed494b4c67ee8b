//! The page as files of a static site: the engine is beside it, and nothing is asked of a server.

use super::{PAGE, STYLE, page, script};

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Its name in the folder of the page.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// The policy of the page: everything is its own, and a worker compiles the engine.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:";

/// The parts of the page that are others on a site: they are files, and the page names its worker.
const PARTS: [(&str, &str); 6] = [
    ("<html lang=\"en\">", "<html lang=\"en\" data-engine=\"worker.js\">"),
    ("@POLICY@", POLICY),
    ("<style>@STYLE@</style>", "<link rel=\"stylesheet\" href=\"page.css\">"),
    ("@STATE@", "null"),
    ("<script>@SCRIPT@</script>", "<script src=\"page.js\"></script>"),
    (
        "<title>ctm</title>",
        "<link rel=\"preload\" as=\"fetch\" type=\"application/wasm\" crossorigin href=\"ctm_web_bg.wasm\">\n<title>ctm</title>",
    ),
];

/// The files of the page, beside those of the engine: `worker.js`, `ctm_web.js`, `ctm_web_bg.wasm` (`crates/ctm-web`).
#[must_use]
pub fn site() -> Vec<SiteFile> {
    let html = PARTS.iter().fold(PAGE.to_owned(), |html, (part, here)| html.replace(part, here));
    // The file that **Share** saves; the page puts the state into it.
    let shared = String::from_utf8_lossy(&page(true, "@STATE@").body).into_owned();
    let style = [ctm::trace::PALETTE, STYLE].concat();
    let files = [("index.html", html), ("shared.html", shared), ("page.css", style), ("page.js", script().to_owned())];
    files.into_iter().map(|(name, text)| SiteFile { name, text }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_page_is_replaced() {
        for (part, _) in PARTS {
            assert_eq!(PAGE.matches(part).count(), 1, "{part}");
        }
        let files = site();
        let html = &files[0].text;
        assert!(!html.contains('@') && html.contains("data-engine"), "{html}");
        // The page puts the state at the first mark.
        let (before, _) = files[1].text.split_once("@STATE@").unwrap();
        assert!(before.ends_with("type=\"application/json\">"), "{before}");
    }
}
