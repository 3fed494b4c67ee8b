//! The pages that are made from tables are up to date. `UPDATE_EXPECT=1 cargo test -p ctm-device --test suite device_docs` writes them anew.

#[test]
fn commands_pages_are_made_from_the_table() {
    for (name, page) in ctm_device::commands::pages() {
        let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &page).expect("the page can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(found == page, "docs/{name} differs from the table; UPDATE_EXPECT=1 writes it anew");
    }
}

/// Each command's parameters are on one page.
#[test]
fn every_command_has_its_parameters_on_one_page() {
    let pages = ctm_device::commands::pages();
    for kind in ctm_device::commands::CommandKind::ALL {
        let heading = format!("### `{}` (", kind.name());
        let count: usize = pages.iter().map(|(_, page)| page.matches(&heading).count()).sum();
        assert_eq!(count, 1, "{heading}");
    }
}
