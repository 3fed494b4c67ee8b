//! The executed control flow of a launch: blocks, and the counts of their edges.

use crate::profile::Profile;
use ctm_exec::observe::At;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A basic block: instructions that are always executed in sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct BasicBlock {
    /// Its instructions.
    pub instructions: Vec<At>,
    /// How often groups executed it.
    pub executed: u64,
    /// Covered lanes that did, on average.
    pub lanes: f64,
}

/// The control-flow graph of the executed instructions.
#[derive(Clone, Debug, Default)]
pub struct ExecutedGraph {
    /// The blocks in the order of their places.
    pub blocks: Vec<BasicBlock>,
    /// From, to (numbers of blocks), and how often.
    pub edges: Vec<(usize, usize, u64)>,
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Profile {
    /// The control-flow graph of the executed instructions.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "an average for people")]
    pub fn graph(&self) -> ExecutedGraph {
        let mut after: BTreeMap<At, BTreeSet<At>> = BTreeMap::new();
        let mut before: BTreeMap<At, BTreeSet<At>> = BTreeMap::new();
        for &(from, to) in self.edges.keys() {
            after.entry(from).or_default().insert(to);
            before.entry(to).or_default().insert(from);
        }
        let one = |set: Option<&BTreeSet<At>>| set.filter(|set| set.len() == 1).and_then(|set| set.first().copied());
        // An instruction extends a block when it is the only successor of its only predecessor.
        let continues =
            |at: At| one(before.get(&at)).is_some_and(|from| one(after.get(&from)) == Some(at) && from != at);
        let mut graph = ExecutedGraph::default();
        let mut block_of: BTreeMap<At, usize> = BTreeMap::new();
        for &at in self.counts.keys().filter(|&&at| !continues(at)) {
            let mut instructions = vec![at];
            let mut last = at;
            while let Some(next) = one(after.get(&last)).filter(|&next| continues(next) && next != at) {
                instructions.push(next);
                last = next;
            }
            for &inside in &instructions {
                block_of.insert(inside, graph.blocks.len());
            }
            let count = self.counts.get(&at).copied().unwrap_or_default();
            let lanes = if count.executed == 0 { 0.0 } else { count.lanes as f64 / count.executed as f64 };
            graph.blocks.push(BasicBlock { instructions, executed: count.executed, lanes });
        }
        for (&(from, to), &times) in &self.edges {
            let (Some(&a), Some(&b)) = (block_of.get(&from), block_of.get(&to)) else { continue };
            let inside = a == b && graph.blocks[a].instructions.windows(2).any(|pair| pair == [from, to]);
            if !inside {
                graph.edges.push((a, b, times));
            }
        }
        graph
    }

    /// The lines of a block; at most eight.
    fn block_lines(&self, block: &BasicBlock) -> Vec<String> {
        let mut lines: Vec<usize> = block.instructions.iter().filter_map(|&at| self.listing.line(at)).collect();
        lines.dedup();
        let mut text: Vec<String> = lines
            .iter()
            .take(8)
            .filter_map(|&line| {
                let all = self.listing.lines.get(line - 1)?.text.split(';').next()?.trim().to_owned();
                let cut: String = all.chars().take(60).collect();
                Some(format!("{line:>4} {}{}", cut, if cut.len() < all.len() { " ..." } else { "" }))
            })
            .collect();
        if lines.len() > 8 {
            text.push(format!("     ... {} lines more", lines.len() - 8));
        }
        text
    }

    /// The graph in the language of Graphviz.
    #[must_use]
    pub fn dot(&self) -> String {
        let graph = self.graph();
        let mut out = String::from("digraph program {\n  node [shape=box, fontname=monospace, fontsize=10];\n");
        for (n, block) in graph.blocks.iter().enumerate() {
            let lines: String =
                self.block_lines(block).iter().map(|l| l.replace('\\', "\\\\").replace('"', "\\\"") + "\\l").collect();
            let _ =
                writeln!(out, "  b{n} [label=\"{} executions, {:.1} lanes\\l{lines}\"];", block.executed, block.lanes);
        }
        for (from, to, times) in &graph.edges {
            let _ = writeln!(out, "  b{from} -> b{to} [label=\"{times}\"];");
        }
        out.push_str("}\n");
        out
    }

    /// The graph as a picture: blocks one below the other, edges on their right where they do not lead to the next block.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "places in a picture")]
    pub fn svg(&self) -> String {
        const WIDTH: f64 = 480.0;
        const LINE: f64 = 15.0;
        let graph = self.graph();
        let texts: Vec<Vec<String>> = graph.blocks.iter().map(|block| self.block_lines(block)).collect();
        let mut tops = Vec::new();
        let mut y = 20.0;
        for text in &texts {
            tops.push(y);
            y += LINE * (text.len() as f64 + 1.0) + 12.0 + 28.0;
        }
        let bottom = |n: usize| tops[n] + LINE * (texts[n].len() as f64 + 1.0) + 12.0;
        let most = graph.edges.iter().map(|&(a, b, _)| a.abs_diff(b)).max().unwrap_or(0) as f64;
        let room = 60.0 + 14.0 * most.min(12.0) + 60.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{y}\" font-family=\"monospace\" font-size=\"11\">\n\
             <style>text{{fill:currentColor}} rect{{fill:none;stroke:currentColor}} path{{fill:none;stroke:currentColor}}</style>\n\
             <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
             <path d=\"M0 0L8 4L0 8\"/></marker></defs>\n",
            WIDTH + room + 20.0
        );
        for (n, block) in graph.blocks.iter().enumerate() {
            let height = bottom(n) - tops[n];
            let _ = writeln!(out, "<rect x=\"10\" y=\"{}\" width=\"{WIDTH}\" height=\"{height}\" rx=\"4\"/>", tops[n]);
            let title = format!("{} executions, {:.1} lanes", block.executed, block.lanes);
            for (row, text) in std::iter::once(&title).chain(&texts[n]).enumerate() {
                let y = tops[n] + LINE * (row as f64 + 1.0);
                let _ = writeln!(out, "<text x=\"18\" y=\"{y}\" xml:space=\"preserve\">{}</text>", escaped(text));
            }
        }
        for &(from, to, times) in &graph.edges {
            if to == from + 1 {
                let (x, y0, y1) = (60.0, bottom(from), tops[to]);
                let _ = writeln!(
                    out,
                    "<path d=\"M{x} {y0}V{y1}\" marker-end=\"url(#a)\"/><text x=\"{}\" y=\"{}\">{times}</text>",
                    x + 6.0,
                    y0 + 18.0
                );
                continue;
            }
            let x = WIDTH + 10.0;
            let out_x = x + 30.0 + 14.0 * (from.abs_diff(to) as f64).min(12.0);
            let (y0, y1) = (bottom(from) - 8.0, tops[to] + 8.0);
            let _ = writeln!(out, "<path d=\"M{x} {y0}H{out_x}V{y1}H{x}\" marker-end=\"url(#a)\"/>");
            let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{times}</text>", out_x + 4.0, f64::midpoint(y0, y1));
        }
        out.push_str("</svg>\n");
        out
    }
}
