//! The pages that are made from tables are up to date. `CTM_BLESS=1 cargo test -p close-to-metal --test device_docs` writes them anew.

#[test]
fn commands_page_is_made_from_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let page = ctm::commands::markdown();
    if std::env::var_os("CTM_BLESS").is_some() {
        std::fs::write(path, &page).expect("docs/commands.md can be written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == page, "docs/commands.md differs from the table; CTM_BLESS=1 writes it anew");
}
