fn main() {
    let s = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let c = ctm_ps3::compile(&s, &ctm_ps3::Options::default());
    for d in &c.diagnostics { println!("{:?}: {} [{:?}] {:?} {:?}", d.severity, d.message, d.labels.first().map(|l| &s[l.span.start as usize..l.span.end as usize]), d.help, d.cite); }
    println!("{}", c.text);
    if let Some(p) = c.program { for d in ctm_isa::x1k::check::check(&p) { println!("CHECK {:?} {} {} pc {:?}", d.severity, d.rule, d.message, d.pc); } println!("{} slots", p.words.len()); }
}
