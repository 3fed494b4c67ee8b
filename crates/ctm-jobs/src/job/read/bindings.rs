//! The tables of bindings: constants, textures, outputs, the conditional unit.

use super::{Reader, is_flag};
use crate::job::draft::Draft;
use crate::job::keys;
use crate::job::located::Located;
use crate::job::machine::{Integers, OutputKeys};
use crate::job::model::{Conditional, FromOutput, Output, OwnTexture, Save, Texture};
use crate::job::r700::model::{COMPARES, FILTERS, KINDS, MIPS, R700Texture, WRAPS};
use crate::job::slots::{Slots, formats, tilings};
use crate::job::tree::{Origin, PlacedValue, Table, Value};
use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::mc::{Format, Tiling};
use ctm_exec::r700::{LoopConstant, Sampler};
use ctm_exec::x1k::Wrap;
use ctm_launch::Ref;
use std::path::PathBuf;

impl Reader {
    pub(super) fn constants(&mut self, node: &PlacedValue, draft: &mut Draft) {
        let Some(table) = self.section(node, &keys::CONSTANTS) else { return };
        for (key, slots) in [("float", Slots::FLOAT), ("int", Slots::INT), ("bool", Slots::BOOL)] {
            let Some(node) = table.get(key) else { continue };
            let Value::Table(entries) = &node.value else {
                self.error(
                    node.origin,
                    "bad-type",
                    format!(
                        "`{key}` is {}, it must be a table from index or name to value: `{key} = {{ 0 = ... }}`",
                        node.value.kind()
                    ),
                );
                continue;
            };
            for entry in &entries.entries {
                let name = PlacedValue { value: Value::String(entry.key.clone()), origin: entry.origin };
                let Some(which) = self.slot(key, &name, slots) else { continue };
                let (value, origin) = (&entry.node, entry.node.origin);
                // `0` and `c0` are one constant. A flag overrides the file.
                let earlier = match key {
                    "float" => draft.float.get(&which).map(|c| &c.place),
                    "int" => draft.int.get(&which).map(|c| &c.place),
                    _ => draft.bool.get(&which).map(|c| &c.place),
                };
                if earlier.is_some_and(|place| is_flag(place.as_ref()) == matches!(origin, Origin::Flag(_))) {
                    self.error(origin, "duplicate-constant", format!("{key} constant {which} is given twice"));
                }
                match key {
                    "float" => {
                        draft.varying.remove(&which);
                        // Containers declare uniforms by name.
                        let uniform = self.machine().has_uniforms && matches!(which, Ref::Name(_));
                        let errors = self.reports.len();
                        if let Some(varying) = self.varying(&format!("constant {}", entry.key), value, uniform) {
                            draft.float.insert(which.clone(), self.located(varying.at(0), origin));
                            draft.varying.insert(which, varying);
                        } else if self.reports.len() == errors
                            && let Some(bits) = self.four_bits(&format!("constant {}", entry.key), value)
                        {
                            draft.float.insert(which, self.located(bits, origin));
                        }
                    }
                    "int" => {
                        if let Some(constant) = self.integer_constant(&entry.key, value) {
                            draft.int.insert(which, self.located(constant, origin));
                        }
                    }
                    _ => {
                        if let Some(b) = self.boolean(&entry.key, value) {
                            draft.bool.insert(which, self.located(b, origin));
                        }
                    }
                }
            }
        }
    }

    /// The numbers of an integer constant (CTM §3.5.3, R700 §3.7.3).
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "steps in two's complement; the ranges are checked"
    )]
    fn integer_constant(&mut self, key: &str, node: &PlacedValue) -> Option<LoopConstant> {
        let Integers { what, list: form, parts } = &self.machine().integers;
        let list = match &node.value {
            Value::Array(list) if (1..=parts.len()).contains(&list.len()) => list,
            other => {
                let found = match other {
                    Value::Array(list) => format!("a list of {}", list.len()),
                    other => other.kind().to_owned(),
                };
                self.error(node.origin, "bad-value", format!("{what} {key} is {found}, it must be {form}"));
                return None;
            }
        };
        let mut numbers = [0i128; 4];
        for ((number, (name, least, most)), node) in numbers.iter_mut().zip(*parts).zip(list) {
            *number = self.integer(name, node, *least..=*most)?;
        }
        let [count, start, step, _] = numbers;
        Some(LoopConstant { count: count as u16, start: start as u16, step: step as i8 })
    }

    /// The wrap modes of a texture's coordinates, if it names any.
    fn wraps(&mut self, table: &Table) -> Option<[Wrap; 3]> {
        let node = table.get("wrap")?;
        match &node.value {
            Value::Array(list) if (2..=self.machine().coordinates).contains(&list.len()) => {
                let mut wraps = [Wrap::default(); 3];
                for (wrap, node) in wraps.iter_mut().zip(list) {
                    *wrap = self.choice("wrap", node, &WRAPS)?;
                }
                Some(wraps)
            }
            Value::String(_) => self.choice("wrap", node, &WRAPS).map(|wrap| [wrap; 3]),
            other => {
                let message = format!("`wrap` is {}, it must be a pair such as [\"repeat\", \"clamp\"]", other.kind());
                self.error(node.origin, "bad-type", message);
                None
            }
        }
    }

    /// The sampler of a texture.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "integers are checked against their ranges"
    )]
    fn sampler(&mut self, table: &Table, wraps: Option<[Wrap; 3]>) -> Sampler {
        let default = Sampler::default();
        let magnify = table.get("filter").and_then(|n| self.choice("filter", n, &FILTERS)).unwrap_or_default();
        let mut real = |key: &str| table.get(key).and_then(|n| self.real(key, n));
        let (min_lod, max_lod, lod_bias) = (real("min_lod"), real("max_lod"), real("lod_bias"));
        Sampler {
            magnify,
            minify: table.get("minify").and_then(|n| self.choice("minify", n, &FILTERS)).unwrap_or(magnify),
            mip: table.get("mip").and_then(|n| self.choice("mip", n, &MIPS)).unwrap_or_default(),
            wrap: wraps.unwrap_or_default(),
            border: table.get("border").and_then(|n| self.four_bits("`border`", n)).unwrap_or_default(),
            min_lod: min_lod.unwrap_or(default.min_lod),
            max_lod: max_lod.unwrap_or(default.max_lod),
            lod_bias: lod_bias.unwrap_or_default(),
            compare: table.get("compare").and_then(|n| self.choice("compare", n, &COMPARES)).unwrap_or_default(),
            max_anisotropy: self.optional(table, "anisotropy", 1..=16).map_or(default.max_anisotropy, |n| n as u8),
            seamless: table.get("seamless").and_then(|n| self.boolean("seamless", n)).unwrap_or_default(),
            ..default
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "integers are checked against their ranges"
    )]
    pub(super) fn texture(&mut self, node: &PlacedValue) -> Option<Texture> {
        let table = self.section(node, &keys::TEXTURE)?;
        let slot_node = self.required(node, table, "slot", "[[texture]]")?;
        let slot = self.slot("slot", slot_node, self.machine().inputs)?;
        let wraps = self.wraps(table);
        let pass = table.get("pass").and_then(|n| self.string("pass", n));
        let output = table.get("output").and_then(|n| {
            let output = self.output_slot("output", n)?;
            Some(self.located(FromOutput { output, pass: pass.clone() }, n.origin))
        });
        if let (Some(n), None) = (table.get("pass"), table.get("output")) {
            self.error(n.origin, "missing-key", "`pass` says whose output is read, and `output` is missing");
        }
        let data = table.get("data").and_then(|n| self.data("data", n));
        let sampler = self.sampler(table, wraps);
        let own = match self.machine().samplers {
            // An X1K input has its own sampler state, and the key `sampler` says nothing there.
            None => OwnTexture::X1k(table.get("tiling").and_then(|n| self.choice("tiling", n, &tilings()))),
            Some(samplers) => OwnTexture::R700(self.r700_texture(table, samplers)),
        };
        Some(Texture {
            slot: self.located(slot, slot_node.origin),
            data,
            output,
            sampler,
            has_wrap: wraps.is_some(),
            format: self.format(table).map(|(f, origin)| self.located(f, origin)),
            size: table.get("size").and_then(|n| self.size(n)),
            own,
        })
    }

    fn r700_texture(&mut self, table: &Table, samplers: Slots) -> R700Texture {
        let sampler_slot = table.get("sampler").and_then(|n| {
            let which = self.slot("sampler", n, samplers)?;
            Some(self.located(which, n.origin))
        });
        let levels = table.get("levels").and_then(|n| match &n.value {
            Value::Array(list) => list.iter().map(|n| self.data("levels", n)).collect::<Option<Vec<_>>>(),
            _ => self.data("levels", n).map(|one| vec![one]),
        });
        R700Texture {
            sampler_slot,
            kind: table.get("kind").and_then(|n| self.choice("kind", n, &KINDS)).unwrap_or_default(),
            depth: self.optional(table, "depth", 1..=8192).and_then(|n| u32::try_from(n).ok()),
            levels: levels.unwrap_or_default(),
        }
    }

    fn format(&mut self, table: &Table) -> Option<(Format, Origin)> {
        let node = table.get("format")?;
        Some((self.choice("format", node, &formats())?, node.origin))
    }

    /// An output by number or name.
    fn output_slot(&mut self, key: &str, node: &PlacedValue) -> Option<Ref> {
        match self.machine().outputs {
            OutputKeys::Numbered(slots) => self.slot(key, node, slots),
            OutputKeys::Exports => self.target(key, node),
        }
    }

    /// An output; `fresh`: it begins with its own `clear`.
    pub(super) fn output(&mut self, node: &PlacedValue, fresh: bool) -> Option<Output> {
        let table = self.section(node, &keys::OUTPUT)?;
        let slot_node = self.required(node, table, "slot", "[[output]]")?;
        let slot = self.output_slot("slot", slot_node)?;
        let mask = table.get("mask").and_then(|n| {
            let text = self.string("mask", n)?;
            let mut mask = 0;
            for c in text.chars() {
                match "rgba".find(c) {
                    Some(bit) => mask |= 1 << bit,
                    None => {
                        self.error(
                            n.origin,
                            "bad-value",
                            format!("`mask` is \"{text}\", it is made of the letters rgba"),
                        );
                        return None;
                    }
                }
            }
            Some(mask)
        });
        let slot = self.located(slot, slot_node.origin);
        let clear = table.get("clear").and_then(|n| self.four_bits("`clear`", n)).unwrap_or_default();
        let format = table.get("format").and_then(|n| self.choice("format", n, &(self.machine().stored)()));
        let tiling = table.get("tiling").and_then(|n| self.choice("tiling", n, &tilings())).unwrap_or(Tiling::Linear);
        let size = table.get("size").and_then(|n| self.size(n));
        let paths = table.get("save").map(|n| self.paths("save", n)).unwrap_or_default();
        let flip_y = table.get("flip_y").and_then(|n| self.boolean("flip_y", n)).unwrap_or(false);
        let save = |path: Located<PathBuf>| Save { slot: slot.clone(), path, flip_y };
        let saves = paths.into_iter().map(save).collect();
        Some(Output { slot, clear, fresh, format, tiling, size, mask: mask.unwrap_or(15), saves })
    }

    pub(super) fn conditional(&mut self, node: &PlacedValue) -> Option<Conditional> {
        const LOCATIONS: [(&str, CondLoc); 2] = [("dpp", CondLoc::Dpp), ("pe", CondLoc::Pe)];
        let table = self.section(node, &keys::CONDITIONAL)?;
        let names = ["never", "less", "less_equal", "equal", "greater_equal", "greater", "not_equal", "always"];
        let tests: Vec<(&str, CondTest)> = names.into_iter().zip(CondTest::ALL.iter().copied()).collect();
        let mut bits = |key: &str| table.get(key).and_then(|n| self.bits(&format!("`{key}`"), n)).unwrap_or(0);
        let (value, clear) = (bits("value"), bits("clear"));
        let location = table.get("location").and_then(|n| self.choice("location", n, &LOCATIONS));
        let test = table.get("test").and_then(|n| self.choice("test", n, &tests));
        Some(Conditional {
            location: location.unwrap_or(CondLoc::Dpp),
            test: test.unwrap_or(CondTest::Always),
            value,
            clear,
            buffer: table.get("buffer").and_then(|n| self.data("buffer", n)),
            write: table.get("write").and_then(|n| self.boolean("write", n)).unwrap_or(true),
            save: table.get("save").and_then(|n| self.path("save", n)),
        })
    }
}
