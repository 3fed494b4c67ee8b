//! Places that hold 32 bits of a lane, of the group or of memory, and their names in the texts of the two machines.

use crate::r700::data_share::SHARE_DWORDS;
use crate::r700::{Space, Target};
use std::fmt;

/// Which machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatchedIsa {
    /// The X1K.
    X1k,
    /// The R700.
    R700,
}

/// A place. Channels and elements count from 0: r and x are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// X1K: a channel of a temporary (CTM §3.3.1): `r3.g`.
    Temp(u8, u8),
    /// X1K: a channel of a floating-point constant: `c0.r`.
    Constant(u8, u8),
    /// X1K: an inline constant by its code: `#5`.
    Inline(u8),
    /// X1K: a predicate bit (CTM §3.3.9): `p.r`.
    Predicate(u8),
    /// X1K: the ALU result (CTM §3.3.10): `res`.
    AluResult,
    /// X1K: a channel of an output register: `o0.g`.
    Output(u8, u8),
    /// X1K: the conditional value (W output): `w`.
    ConditionalValue,
    /// X1K: whether the processor is covered: `covered`.
    Covered,
    /// X1K: a channel of element (x, y) of an input: `s0[12,5].r`.
    Element {
        /// The input.
        input: u8,
        /// Column.
        x: u16,
        /// Row.
        y: u16,
        /// The channel.
        channel: u8,
    },
    /// X1K: element (x, y) of output 0, written uncached (CTM §3.3.8): `o0[12,5]`.
    Uncached(u32, u32),
    /// R700: an element of a register: `R3.y`.
    Gpr(u8, u8),
    /// R700: an element of a SIMD-global register (R700 §2.6.1.1): `G3.y`.
    Global(u8, u8),
    /// R700: an element of a constant of the constant file: `C5.x`.
    ConstantFile(u16, u8),
    /// R700: an element of a locked constant of set 0 or 1: `KC0[3].x`.
    Kcache(u8, u8, u8),
    /// R700: a literal of the group, or a constant of the machine, by its bits: `0x3f800000`.
    Literal(u32),
    /// R700: a previous vector result (R700 §4.7.1): `PV.x`.
    Pv(u8),
    /// R700: the previous scalar result: `PS`.
    Ps,
    /// R700: an element of the address register: `AR.x`.
    Ar(u8),
    /// R700: the predicate bit of the clause (R700 §4.10): `P`.
    ClausePredicate,
    /// R700: the predicate that becomes the active mask: `EXEC`.
    Execute,
    /// R700: whether the clause that runs has killed the pixel (R700 §4.8.1.1): `KILLED`.
    Killed,
    /// R700: whether the pixel is valid: `VALID`.
    Valid,
    /// R700: an element of an export: `PIX0.x`.
    Export(Target, u8),
    /// R700: an element of the thread's scratch memory: `scratch[3].x`.
    Scratch(u16, u8),
    /// R700: a dword of the local data share, bank after bank: `lds[12]`.
    Share(u16),
    /// R700: a dword of a memory: `scatter[12]`.
    Dword(Space, u32),
    /// R700: an element of a texel: `t0[12,5,0]/0.x`, the level after the slash.
    Texel {
        /// The resource.
        id: u8,
        /// Column, row, slice.
        at: [u16; 3],
        /// Mipmap level.
        level: u8,
        /// The element.
        element: u8,
    },
    /// R700: a dword of a buffer at a byte offset: `b3[+16]`.
    Buffer(u8, u32),
}

const RGBA: [char; 4] = ['r', 'g', 'b', 'a'];
const XYZW: [char; 4] = ['x', 'y', 'z', 'w'];

fn rgba(channel: u8) -> char {
    RGBA[usize::from(channel & 3)]
}

fn xyzw(element: u8) -> char {
    XYZW[usize::from(element & 3)]
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Temp(n, c) => write!(f, "r{n}.{}", rgba(c)),
            Self::Constant(n, c) => write!(f, "c{n}.{}", rgba(c)),
            Self::Inline(code) => write!(f, "#{code}"),
            Self::Predicate(c) => write!(f, "p.{}", rgba(c)),
            Self::AluResult => f.write_str("res"),
            Self::Output(n, c) => write!(f, "o{n}.{}", rgba(c)),
            Self::ConditionalValue => f.write_str("w"),
            Self::Covered => f.write_str("covered"),
            Self::Element { input, x, y, channel } => write!(f, "s{input}[{x},{y}].{}", rgba(channel)),
            Self::Uncached(x, y) => write!(f, "o0[{x},{y}]"),
            Self::Gpr(n, e) => write!(f, "R{n}.{}", xyzw(e)),
            Self::Global(n, e) => write!(f, "G{n}.{}", xyzw(e)),
            Self::ConstantFile(n, e) => write!(f, "C{n}.{}", xyzw(e)),
            Self::Kcache(set, n, e) => write!(f, "KC{set}[{n}].{}", xyzw(e)),
            Self::Literal(bits) => write!(f, "0x{bits:08x}"),
            Self::Pv(e) => write!(f, "PV.{}", xyzw(e)),
            Self::Ps => f.write_str("PS"),
            Self::Ar(e) => write!(f, "AR.{}", xyzw(e)),
            Self::ClausePredicate => f.write_str("P"),
            Self::Execute => f.write_str("EXEC"),
            Self::Killed => f.write_str("KILLED"),
            Self::Valid => f.write_str("VALID"),
            Self::Export(target, e) => match target {
                Target::Pixel(n) => write!(f, "PIX{n}.{}", xyzw(e)),
                Target::Depth => write!(f, "DEPTH.{}", xyzw(e)),
                Target::Position(n) => write!(f, "POS{n}.{}", xyzw(e)),
                Target::Parameter(n) => write!(f, "PARAM{n}.{}", xyzw(e)),
            },
            Self::Scratch(n, e) => write!(f, "scratch[{n}].{}", xyzw(e)),
            Self::Share(n) => write!(f, "lds[{n}]"),
            Self::Dword(space, at) => write!(f, "{}[{at}]", space.name()),
            Self::Texel { id, at: [x, y, z], level, element } => {
                write!(f, "t{id}[{x},{y},{z}]/{level}.{}", xyzw(element))
            }
            Self::Buffer(id, offset) => write!(f, "b{id}[+{offset}]"),
        }
    }
}

/// A name that means one place or for the channels of a register.
pub const FORMS: &str = "r3 or r3.g, o0, p, res, w, covered, c0, s0[12,5], o0[12,5] (X1K); R3 or R3.y, PV, PS, AR, P, PIX0, POS0, PARAM0, DEPTH, C5, \
     KC0[3], lds[12], scratch[3], scatter[12], ring[12], reduction[12], stream0[12], t0[12,5,0]/0, b3[+16] (R700)";

/// A name that means no place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceError {
    /// No register is called so.
    Unknown {
        /// As it was given.
        name: String,
    },
    /// There are such registers, but none of this number.
    Number {
        /// As it was given.
        name: String,
        /// Its number.
        number: u16,
        /// How many there are.
        count: u16,
    },
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "`{name}` names no register; known are {FORMS}"),
            Self::Number { name, number, count } => {
                write!(f, "`{name}`: there is no number {number}, allowed are 0 to {}", count.saturating_sub(1))
            }
        }
    }
}

impl std::error::Error for PlaceError {}

impl Place {
    /// The places of a name as [`fmt::Display`] prints it, with all channels where none is given. Capital letters may be small for the R700.
    /// Channels can be written `rgba` or `xyzw` for either machine.
    ///
    /// # Errors
    /// The error in the name, and the allowed ones.
    pub fn parse(isa: WatchedIsa, name: &str) -> Result<Vec<Self>, PlaceError> {
        let wrong = || PlaceError::Unknown { name: name.to_owned() };
        let (base, channels) = match name.split_once('.') {
            None => (name, None),
            Some((base, channels)) => {
                let letters = channels.to_ascii_lowercase();
                let of = |letter: char| RGBA.iter().chain(&XYZW).position(|&l| l == letter).map(|at| at as u8 & 3);
                let channels: Option<Vec<u8>> = letters.chars().map(of).collect();
                (base, Some(channels.filter(|c| !c.is_empty()).ok_or_else(wrong)?))
            }
        };
        let lower = base.to_ascii_lowercase();
        if let Some((array, index)) = lower.split_once('[') {
            return in_array(isa, array, index, channels.as_deref()).ok_or_else(wrong);
        }
        let all = |make: &dyn Fn(u8) -> Self| -> Vec<Self> {
            channels.clone().unwrap_or_else(|| vec![0, 1, 2, 3]).into_iter().map(make).collect()
        };
        let one = |place: Self| if channels.is_none() { Ok(vec![place]) } else { Err(wrong()) };
        let digits = lower.find(|c: char| c.is_ascii_digit()).unwrap_or(lower.len());
        let (kind, number) = lower.split_at(digits);
        let number: Option<u16> = if number.is_empty() { None } else { Some(number.parse().map_err(|_| wrong())?) };
        let below = |limit: u16| {
            number.filter(|&n| n < limit).ok_or_else(|| match number {
                Some(number) => PlaceError::Number { name: name.to_owned(), number, count: limit },
                None => wrong(),
            })
        };
        let byte = |limit: u16| below(limit).map(|n| n as u8);
        match (isa, kind, number) {
            (WatchedIsa::X1k, "r", Some(_)) => byte(128).map(|n| all(&|c| Self::Temp(n, c))),
            (WatchedIsa::X1k, "c", Some(_)) => byte(256).map(|n| all(&|c| Self::Constant(n, c))),
            (WatchedIsa::X1k, "o", Some(_)) => byte(4).map(|n| all(&|c| Self::Output(n, c))),
            (WatchedIsa::X1k, "p", None) => Ok(all(&Self::Predicate)),
            (WatchedIsa::X1k, "res", None) => one(Self::AluResult),
            (WatchedIsa::X1k, "w", None) => one(Self::ConditionalValue),
            (WatchedIsa::X1k, "covered", None) => one(Self::Covered),
            (WatchedIsa::R700, "r", Some(_)) => byte(128).map(|n| all(&|c| Self::Gpr(n, c))),
            (WatchedIsa::R700, "g", Some(_)) => byte(124).map(|n| all(&|c| Self::Global(n, c))),
            (WatchedIsa::R700, "c", Some(_)) => below(256).map(|n| all(&|c| Self::ConstantFile(n, c))),
            (WatchedIsa::R700, "pv", None) => Ok(all(&Self::Pv)),
            (WatchedIsa::R700, "ar", None) => Ok(all(&Self::Ar)),
            (WatchedIsa::R700, "ps", None) => one(Self::Ps),
            (WatchedIsa::R700, "p", None) => one(Self::ClausePredicate),
            (WatchedIsa::R700, "exec", None) => one(Self::Execute),
            (WatchedIsa::R700, "killed", None) => one(Self::Killed),
            (WatchedIsa::R700, "valid", None) => one(Self::Valid),
            (WatchedIsa::R700, "pix", Some(_)) => byte(8).map(|n| all(&|c| Self::Export(Target::Pixel(n), c))),
            (WatchedIsa::R700, "pos", Some(_)) => byte(4).map(|n| all(&|c| Self::Export(Target::Position(n), c))),
            (WatchedIsa::R700, "param", Some(_)) => byte(32).map(|n| all(&|c| Self::Export(Target::Parameter(n), c))),
            (WatchedIsa::R700, "depth", None) => Ok(all(&|c| Self::Export(Target::Depth, c))),
            _ => Err(wrong()),
        }
    }

    /// Whether the 32 bits are a yes or no.
    #[must_use]
    pub const fn is_flag(&self) -> bool {
        matches!(
            self,
            Self::Predicate(_)
                | Self::AluResult
                | Self::Covered
                | Self::ClausePredicate
                | Self::Execute
                | Self::Killed
                | Self::Valid
        )
    }

    /// Whether it is the same for all lanes and never written by the program.
    #[must_use]
    pub const fn is_constant(&self) -> bool {
        matches!(
            self,
            Self::Constant(..) | Self::Inline(_) | Self::ConstantFile(..) | Self::Kcache(..) | Self::Literal(_)
        )
    }

    /// Whether it is an output of the program: an output, an export or memory.
    #[must_use]
    pub const fn is_output(&self) -> bool {
        matches!(
            self,
            Self::Output(..) | Self::ConditionalValue | Self::Uncached(..) | Self::Export(..) | Self::Dword(..)
        )
    }

    /// Whether it begins anew with each ALU clause (R700 §4.7.1, §4.10).
    #[must_use]
    pub const fn is_of_clause(&self) -> bool {
        matches!(self, Self::Pv(_) | Self::Ps | Self::Ar(_) | Self::ClausePredicate | Self::Execute | Self::Killed)
    }

    /// Whether it lies in memory.
    #[must_use]
    pub const fn is_memory(&self) -> bool {
        matches!(
            self,
            Self::Element { .. } | Self::Uncached(..) | Self::Dword(..) | Self::Texel { .. } | Self::Buffer(..)
        )
    }

    /// The section of the manual that describes it.
    #[must_use]
    pub const fn section(&self) -> &'static str {
        match self {
            Self::Temp(..) | Self::Inline(_) => "CTM §3.3.1",
            Self::Constant(..) => "CTM §2.1.4",
            Self::Predicate(_) => "CTM §3.3.9",
            Self::AluResult => "CTM §3.3.10",
            Self::Output(..) | Self::ConditionalValue => "CTM §3.3.7",
            Self::Uncached(..) => "CTM §3.3.8",
            Self::Covered => "CTM §3.4.1",
            Self::Element { .. } => "CTM §3.4",
            Self::Gpr(..) => "R700 §4.6",
            Self::Global(..) => "R700 §2.6.1.1",
            Self::ConstantFile(..) | Self::Kcache(..) | Self::Literal(_) => "R700 §4.6.4",
            Self::Pv(_) | Self::Ps => "R700 §4.7.1",
            Self::Ar(_) => "R700 §4.6.3",
            Self::ClausePredicate => "R700 §4.10",
            Self::Execute | Self::Valid | Self::Killed => "R700 §3.6.1",
            Self::Export(..) => "R700 §3.4.1",
            Self::Dword(..) | Self::Scratch(..) => "R700 §3.4.2",
            Self::Share(_) => "R700 §2.6.2",
            Self::Texel { .. } => "R700 §6",
            Self::Buffer(..) => "R700 §5",
        }
    }
}

/// The places of a name with an index: `lds[12]`, `s0[12,5].r`, `t0[12,5,0]/0.x`; all in small letters.
fn in_array(isa: WatchedIsa, array: &str, index: &str, channels: Option<&[u8]>) -> Option<Vec<Place>> {
    let (index, level) = index.split_once(']')?;
    let numbers: Vec<u32> =
        index.strip_prefix('+').unwrap_or(index).split(',').map(|n| n.trim().parse().ok()).collect::<Option<_>>()?;
    let digits = array.find(|c: char| c.is_ascii_digit()).unwrap_or(array.len());
    let (kind, id) = array.split_at(digits);
    let id: Option<u8> = if id.is_empty() { None } else { Some(id.parse().ok()?) };
    let small = |n: u32| u16::try_from(n).ok();
    let all = |make: &dyn Fn(u8) -> Place| channels.unwrap_or(&[0, 1, 2, 3]).iter().map(|&c| make(c)).collect();
    let one = |place: Place| (channels.is_none() && level.is_empty()).then(|| vec![place]);
    if let ("t", Some(id), &[x, y, z], WatchedIsa::R700) = (kind, id, numbers.as_slice(), isa) {
        let at = [small(x)?, small(y)?, small(z)?];
        let level = level.strip_prefix('/')?.parse().ok()?;
        return Some(all(&|element| Place::Texel { id, at, level, element }));
    }
    if !level.is_empty() {
        return None;
    }
    match (isa, kind, id, numbers.as_slice()) {
        (WatchedIsa::X1k, "s", Some(input), &[x, y]) => {
            let (x, y) = (small(x)?, small(y)?);
            (input < 16).then(|| all(&|channel| Place::Element { input, x, y, channel }))
        }
        (WatchedIsa::X1k, "o", Some(0), &[x, y]) => one(Place::Uncached(x, y)),
        (WatchedIsa::R700, "kc", Some(set @ 0..2), &[n]) => {
            let n = u8::try_from(n).ok()?;
            Some(all(&|e| Place::Kcache(set, n, e)))
        }
        (WatchedIsa::R700, "scratch", None, &[n]) => {
            let n = small(n)?;
            Some(all(&|e| Place::Scratch(n, e)))
        }
        (WatchedIsa::R700, "lds", None, &[n]) => {
            one(Place::Share(small(n).filter(|&n| usize::from(n) < SHARE_DWORDS)?))
        }
        (WatchedIsa::R700, "b", Some(id), &[offset]) => one(Place::Buffer(id, offset)),
        (WatchedIsa::R700, ..) => {
            let space = Space::ALL.into_iter().find(|space| space.name() == array)?;
            let &[dword] = numbers.as_slice() else { return None };
            one(Place::Dword(space, dword))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_printed() {
        let x1k =
            [Place::Temp(3, 1), Place::Output(0, 3), Place::Predicate(2), Place::AluResult, Place::Constant(255, 0)];
        let r700 = [Place::Gpr(127, 1), Place::Pv(3), Place::Ps, Place::Export(Target::Parameter(31), 2), Place::Ar(0)];
        for place in x1k {
            assert_eq!(Place::parse(WatchedIsa::X1k, &place.to_string()), Ok(vec![place]));
        }
        for place in r700 {
            assert_eq!(Place::parse(WatchedIsa::R700, &place.to_string()), Ok(vec![place]));
        }
        let memory = [
            Place::Kcache(1, 3, 2),
            Place::Scratch(4, 1),
            Place::Share(4095),
            Place::Dword(Space::Scatter, 12),
            Place::Dword(Space::Stream(3), 1 << 20),
            Place::Texel { id: 17, at: [12, 5, 2], level: 3, element: 2 },
            Place::Buffer(160, 16),
        ];
        for place in memory {
            assert_eq!(Place::parse(WatchedIsa::R700, &place.to_string()), Ok(vec![place]));
        }
        for place in [Place::Element { input: 3, x: 12, y: 5, channel: 3 }, Place::Uncached(12, 5)] {
            assert_eq!(Place::parse(WatchedIsa::X1k, &place.to_string()), Ok(vec![place]));
        }
        assert_eq!(Place::parse(WatchedIsa::X1k, "s0[1,2]").map(|p| p.len()), Ok(4));
        assert_eq!(
            Place::parse(WatchedIsa::R700, "scratch[3].yx"),
            Ok(vec![Place::Scratch(3, 1), Place::Scratch(3, 0)])
        );
        assert_eq!(Place::parse(WatchedIsa::X1k, "r2").map(|p| p.len()), Ok(4));
        assert_eq!(Place::parse(WatchedIsa::X1k, "r2.xw"), Ok(vec![Place::Temp(2, 0), Place::Temp(2, 3)]));
    }

    #[test]
    fn what_is_no_name_is_said() {
        for (isa, name) in [
            (WatchedIsa::X1k, "r128"),
            (WatchedIsa::X1k, "R"),
            (WatchedIsa::X1k, "r1."),
            (WatchedIsa::R700, "PIX8"),
            (WatchedIsa::X1k, "res.r"),
            (WatchedIsa::X1k, "s16[0,0]"),
            (WatchedIsa::X1k, "s0[0]"),
            (WatchedIsa::X1k, "lds[0]"),
            (WatchedIsa::R700, "lds[4096]"),
            (WatchedIsa::R700, "lds[1"),
            (WatchedIsa::R700, "lds[].x"),
            (WatchedIsa::R700, "stream4[0]"),
            (WatchedIsa::R700, "t0[1,2,3]"),
            (WatchedIsa::R700, "kc2[0]"),
            (WatchedIsa::R700, "[1]"),
        ] {
            assert!(Place::parse(isa, name).is_err(), "{name}");
        }
        assert!(Place::parse(WatchedIsa::X1k, "r128").unwrap_err().to_string().contains("0 to 127"));
        assert!(Place::parse(WatchedIsa::X1k, "r99999999").is_err());
    }
}
