//! The results of a job as JSON: for the command line and the C library alike.

use super::report::{JobReport, OutputResult, PassReport};
use ctm_exec::Counters;
use ctm_files::array::{Array, ItemType};
use ctm_files::render;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

/// OutputsJson of at most so many elements are printed value by value.
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

/// The elements of an output, as numbers. JSON has no NaN and no infinity: those are null, and their bits are beside them.
struct NumbersJson<'a>(&'a [f32], ItemType);

impl Serialize for NumbersJson<'_> {
    #[allow(clippy::cast_possible_wrap, reason = "the bits are those of a signed integer")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(all, items) = *self;
        match items {
            ItemType::Int32 => serializer.collect_seq(all.iter().map(|v| v.to_bits() as i32)),
            ItemType::Uint32 => serializer.collect_seq(all.iter().map(|v| v.to_bits())),
            ItemType::Float32 | ItemType::Float64 => serializer.collect_seq(all),
        }
    }
}

/// The elements of an output, as bits in hexadecimal.
struct BitsJson<'a>(&'a [f32]);

impl Serialize for BitsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|v| HexJson(v.to_bits())))
    }
}

struct HexJson(u32);

impl Serialize for HexJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("0x{:08x}", self.0))
    }
}

/// An output of a job.
struct OutputJson<'a>(&'a JobReport, &'a OutputResult);

impl Serialize for OutputJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report, output) = *self;
        let few = report.few(output).map(|array| array.to_f32());
        let mut object = serializer.serialize_map(Some(6))?;
        object.serialize_entry("slot", &output.slot)?;
        object.serialize_entry("name", &output.name)?;
        object.serialize_entry("origin", &[output.rect.x, output.rect.y])?;
        object.serialize_entry("shape", &output.shape())?;
        object.serialize_entry("values", &few.as_deref().map(|few| NumbersJson(few, output.items)))?;
        object.serialize_entry("bits", &few.as_deref().map(BitsJson))?;
        object.end()
    }
}

/// The outputs of a job.
struct OutputsJson<'a>(&'a JobReport);

impl Serialize for OutputsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.outputs.iter().map(|output| OutputJson(self.0, output)))
    }
}

/// A report, and entries that a caller has beside it.
struct ReportJson<'a>(&'a JobReport, &'a [(&'a str, Value)]);

impl Serialize for ReportJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report, more) = *self;
        let pass =
            |p: &PassReport| json!({ "name": p.name, "launches": p.launches, "counters": counters(&p.counters) });
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("status", "done")?;
        for (key, value) in more {
            object.serialize_entry(key, value)?;
        }
        object.serialize_entry("passes", &report.passes.iter().map(pass).collect::<Vec<_>>())?;
        object.serialize_entry("counters", &counters(&report.counters()))?;
        object.serialize_entry("outputs", &OutputsJson(report))?;
        let files: Vec<String> = report.files.iter().map(|f| f.display().to_string()).collect();
        object.serialize_entry("files", &files)?;
        object.serialize_entry("findings", &report.reports.iter().map(render::json).collect::<Vec<_>>())?;
        object.serialize_entry("seconds", &report.elapsed.as_secs_f64())?;
        object.end()
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

    /// All of it as one object on one line: `status`, `passes`, `counters`, `outputs`, `files`, `findings`, `seconds` (`docs/cli.md`),
    /// and the entries of `more`.
    #[must_use]
    pub fn json(&self, more: &[(&str, Value)]) -> String {
        // Written straight from the values: a tree of JSON values takes longer than a small job runs. Its keys are texts, so it cannot fail.
        serde_json::to_string(&ReportJson(self, more)).unwrap_or_default()
    }
}
