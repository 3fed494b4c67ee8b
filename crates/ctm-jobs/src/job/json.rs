//! The results of a job as JSON: for the command line and the C library alike.

use super::report::{JobReport, OutputResult};
use ctm_exec::Counters;
use ctm_files::array::{Array, ItemType};
use ctm_files::render;
use serde_json::{Map, Value, json};

/// Outputs of at most so many elements are printed value by value.
pub const FEW: usize = 256;

/// Counters as `docs/cli.md` describes them.
#[must_use]
pub fn counters(c: &Counters) -> Value {
    json!({
        "groups": c.groups,
        "processors": c.processors,
        "instructions": { "alu": c.alu, "output": c.output, "tex": c.tex, "fc": c.fc, "all": c.instructions() },
        "lanes": { "active": c.active_lanes, "all": c.total_lanes },
        "fetches": c.fetches,
        "fetch_bytes": c.fetch_bytes,
        "writes": c.writes,
        "write_bytes": c.write_bytes,
        "clocks": { "alu": c.alu_clocks, "tex": c.tex_clocks, "fc": c.fc_clocks, "all": c.clocks() },
    })
}

/// A value of an output. JSON has no NaN and no infinity: those are null, and their bits are beside them.
#[allow(clippy::cast_possible_wrap, reason = "the bits are those of a signed integer")]
fn value(value: f32, items: ItemType) -> Value {
    match items {
        ItemType::Int32 => json!(value.to_bits() as i32),
        ItemType::Uint32 => json!(value.to_bits()),
        // The shortest decimal number that is this one.
        ItemType::Float32 | ItemType::Float64 => {
            format!("{value:?}").parse::<f64>().ok().filter(|v| v.is_finite()).map_or(Value::Null, |v| json!(v))
        }
    }
}

impl JobReport {
    /// The elements of an output of at most [`FEW`].
    #[must_use]
    pub fn few(&self, output: &OutputResult) -> Option<Array> {
        let elements = output.rect.width as usize * output.rect.height as usize;
        if elements <= FEW { self.array(output.slot) } else { None }
    }

    /// An output by its name, or by `o0`, `pix0` and the like.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&OutputResult> {
        let by_name = self.outputs.iter().find(|o| o.name == name);
        by_name.or_else(|| self.outputs.iter().find(|o| o.number() == name))
    }

    /// All of it as one object: `status`, `passes`, `counters`, `outputs`, `files`, `findings`, `seconds` (`docs/cli.md`).
    #[must_use]
    pub fn json(&self) -> Value {
        let pass = |p: &super::PassReport| json!({ "name": p.name, "launches": p.launches, "counters": counters(&p.counters) });
        let output = |o: &OutputResult| {
            let mut out = Map::new();
            out.insert("slot".into(), json!(o.slot));
            out.insert("name".into(), json!(o.name));
            out.insert("origin".into(), json!([o.rect.x, o.rect.y]));
            out.insert("shape".into(), json!(o.shape()));
            let few = self.few(o).map(|array| array.to_f32());
            let list =
                |of: &dyn Fn(f32) -> Value| few.as_ref().map(|v| v.iter().map(|&v| of(v)).collect::<Vec<Value>>());
            out.insert("values".into(), list(&|v| value(v, o.items)).into());
            out.insert("bits".into(), list(&|v| format!("0x{:08x}", v.to_bits()).into()).into());
            Value::Object(out)
        };
        json!({
            "status": "done",
            "passes": self.passes.iter().map(pass).collect::<Vec<_>>(),
            "counters": counters(&self.counters()),
            "outputs": self.outputs.iter().map(output).collect::<Vec<_>>(),
            "files": self.files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>(),
            "findings": self.reports.iter().map(render::json).collect::<Vec<_>>(),
            "seconds": self.elapsed.as_secs_f64(),
        })
    }
}
