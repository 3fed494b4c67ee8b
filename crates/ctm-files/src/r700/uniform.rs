//! The places of a uniform's numbers in constants of four elements, by the type that a container declares.
//!
//! Each column of a matrix and each element of an array begins a constant of its own, as in a uniform block of GLSL's std140 layout: a mat3 is three
//! constants whose last elements are padding, and `float w[5]` is five constants. Small uniforms may share a constant: their offsets say which of its elements
//! they begin at.

use ctm_image::r700::gfd::header::VariableType;

/// Where a uniform of a container begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniformPlace {
    /// A constant of the constant file.
    File(usize),
    /// A constant of a constant buffer: the buffer, and the number of the constant.
    Buffer(u8, usize),
}

/// The type of a uniform's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UniformElement {
    Float,
    /// Signed or not: two's complement.
    Integer,
    /// Zero or one.
    Bool,
    Double,
}

/// The type of a uniform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniformType {
    name: &'static str,
    element: UniformElement,
    /// Numbers of a column, 1 to 4.
    rows: usize,
    /// Columns of a matrix; 1 of all others.
    columns: usize,
}

impl UniformType {
    /// The type of a container's number for it; an unknown number means four floats.
    #[must_use]
    pub fn of(code: u32) -> Self {
        let unknown = Self { name: "vec4", element: UniformElement::Float, rows: 4, columns: 1 };
        let Some(name) = VariableType::from_code(code).map(VariableType::name) else { return unknown };
        let digit = |at: usize| name.as_bytes().get(at).map_or(1, |digit| usize::from(digit.saturating_sub(b'0')));
        let element = match name {
            "void" => return unknown,
            "double" | "dvec2" | "dvec3" | "dvec4" => UniformElement::Double,
            "bool" | "bvec2" | "bvec3" | "bvec4" => UniformElement::Bool,
            "int" | "uint" | "ivec2" | "ivec3" | "ivec4" | "uvec2" | "uvec3" | "uvec4" => UniformElement::Integer,
            _ => UniformElement::Float,
        };
        let (columns, rows) = match name.find("vec") {
            // matCxR: columns, then rows.
            None if name.starts_with("mat") => (digit(3), digit(5)),
            Some(at) => (1, digit(at + 3)),
            None => (1, 1),
        };
        Self { name, element, rows, columns }
    }
}

/// A uniform of a container, as jobs and draws bind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Its name in the container.
    pub name: String,
    /// Its first constant.
    pub place: UniformPlace,
    /// The element of that constant at which it begins, 0 to 3.
    pub component: usize,
    /// Its type.
    pub of: UniformType,
    /// Elements of an array; 1 of all others.
    pub count: usize,
}

impl Uniform {
    /// Constants of four elements that it takes.
    #[must_use]
    pub fn constants(&self) -> usize {
        self.of.columns * self.count
    }

    /// Numbers of an element, without padding.
    #[must_use]
    pub const fn numbers(&self) -> usize {
        self.of.rows * self.of.columns
    }

    /// Rows and columns of a matrix of floats; `None` of all others.
    #[must_use]
    pub fn matrix(&self) -> Option<[usize; 2]> {
        (self.of.columns > 1 && self.of.element == UniformElement::Float).then_some([self.of.rows, self.of.columns])
    }

    /// Whether it holds floats.
    #[must_use]
    pub fn is_float(&self) -> bool {
        self.of.element == UniformElement::Float
    }

    /// Element `n` of an array as a uniform of its own: `bones[3]`.
    #[must_use]
    pub fn element(&self, n: usize) -> Option<Self> {
        let skipped = n.checked_mul(self.of.columns).filter(|_| n < self.count)?;
        let place = match self.place {
            UniformPlace::File(first) => UniformPlace::File(first + skipped),
            UniformPlace::Buffer(bank, first) => UniformPlace::Buffer(bank, first + skipped),
        };
        Some(Self { name: format!("{}[{n}]", self.name), place, count: 1, ..self.clone() })
    }

    /// The first elements of an array, as many as these numbers fill, without or with padding; the whole where they fill no smaller array.
    #[must_use]
    pub fn beginning(&self, numbers: usize) -> Self {
        let fits = |each: usize| numbers > 0 && numbers.is_multiple_of(each) && numbers / each <= self.count;
        let each = [self.numbers(), 4 * self.of.columns].into_iter().find(|&each| fits(each));
        Self { count: each.map_or(self.count, |each| numbers / each), ..self.clone() }
    }

    /// Its type as GLSL writes it.
    fn declared(&self) -> String {
        if self.count > 1 { format!("{}[{}]", self.of.name, self.count) } else { self.of.name.to_owned() }
    }

    /// The places of its numbers (the bits of floats): dwords from the beginning of [`Self::place`], with their bits. Numbers are given column by
    /// column, element by element, either without padding or with each column filled up to four.
    ///
    /// # Errors
    /// There are too few or too many of them, or one is not of the type; the message has the allowed values.
    pub fn lay_out(&self, numbers: &[u32]) -> Result<Vec<(usize, u32)>, String> {
        let rows = self.of.rows;
        let (tight, padded) = (rows * self.constants(), 4 * self.constants());
        if self.of.element == UniformElement::Double {
            return Err(format!("`{}` is {}, and uniforms of doubles are not done", self.name, self.declared()));
        }
        let step = match numbers.len() {
            n if n == tight => rows,
            n if n == padded => 4,
            n => {
                let order = if self.of.columns > 1 { ", column by column" } else { "" };
                let other =
                    if padded > tight { format!(" (or {padded}, four for each constant)") } else { String::new() };
                let declared = self.declared();
                return Err(format!(
                    "`{}` is {declared} and takes {tight} numbers{order}{other}; {n} are given",
                    self.name
                ));
            }
        };
        let mut out = Vec::with_capacity(tight);
        for (constant, column) in numbers.chunks(step).enumerate() {
            let (own, padding) = column.split_at(rows);
            // One number for all four elements is no error, and zeros are allowed.
            let last = own.last().copied().unwrap_or_default();
            if let Some(&bits) = padding.iter().find(|&&bits| bits != last && f32::from_bits(bits) != 0.0) {
                return Err(format!(
                    "`{}` is {}, which has {rows} of each constant's four numbers, and {} is given after them",
                    self.name,
                    self.declared(),
                    f32::from_bits(bits)
                ));
            }
            for (row, &bits) in own.iter().enumerate() {
                out.push((4 * constant + self.component + row, self.bits(bits)?));
            }
        }
        Ok(out)
    }

    /// One number as the program reads it. Integers are given as whole numbers, or as bit patterns that are no such number in single precision.
    fn bits(&self, bits: u32) -> Result<u32, String> {
        let value = f32::from_bits(bits);
        match self.of.element {
            UniformElement::Float | UniformElement::Double => Ok(bits),
            UniformElement::Bool => Ok(u32::from(value != 0.0 || value.is_subnormal())),
            UniformElement::Integer if value == 0.0 => Ok(0),
            UniformElement::Integer if !value.is_normal() => Ok(bits),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range of 32 bits")]
            UniformElement::Integer if value.fract() == 0.0 && (-2_147_483_648.0..4_294_967_296.0).contains(&value) => {
                Ok(value as i64 as u32)
            }
            UniformElement::Integer => {
                Err(format!("`{}` is {}, and {value} is no integer of 32 bits", self.name, self.declared()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(code: u32, count: usize, component: usize) -> Uniform {
        Uniform { name: "u".into(), place: UniformPlace::File(0), component, of: UniformType::of(code), count }
    }

    fn floats(numbers: &[f32]) -> Vec<u32> {
        numbers.iter().map(|n| n.to_bits()).collect()
    }

    fn code(name: &str) -> u32 {
        VariableType::ALL.iter().find(|of| of.name() == name).unwrap().code()
    }

    #[test]
    fn columns_and_elements_begin_constants() {
        // std140 (OpenGL 4.6 core, 7.6.2.2, rules 4 to 7): columns of matrices and elements of arrays are aligned to four floats.
        let rows: &[(&str, usize, usize, usize, &[usize])] = &[
            ("mat3x3", 1, 0, 9, &[0, 1, 2, 4, 5, 6, 8, 9, 10]),
            ("mat2x2", 1, 0, 4, &[0, 1, 4, 5]),
            ("mat4x3", 1, 0, 12, &[0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14]),
            ("float", 5, 0, 5, &[0, 4, 8, 12, 16]),
            ("vec3", 2, 0, 6, &[0, 1, 2, 4, 5, 6]),
            ("vec2", 1, 2, 2, &[2, 3]),
            ("float", 1, 3, 1, &[3]),
        ];
        for &(name, count, component, numbers, places) in rows {
            let uniform = uniform(code(name), count, component);
            let numbers: Vec<u32> = (1..=numbers).map(|n| (n as f32).to_bits()).collect();
            let expected: Vec<(usize, u32)> = places.iter().copied().zip(numbers.iter().copied()).collect();
            assert_eq!(uniform.lay_out(&numbers).unwrap(), expected, "{name}[{count}] at {component}");
        }
    }

    #[test]
    fn padding_may_be_written() {
        let numbers = floats(&[1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 9.0, 0.0]);
        let tight = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        let mat3 = uniform(code("mat3x3"), 1, 0);
        assert_eq!(mat3.lay_out(&numbers), mat3.lay_out(&tight));
        assert_eq!(uniform(code("float"), 1, 0).lay_out(&floats(&[2.0; 4])).unwrap(), [(0, 2f32.to_bits())]);
        let error = uniform(code("vec3"), 1, 0).lay_out(&floats(&[1.0, 2.0, 3.0, 4.0])).unwrap_err();
        assert_eq!(error, "`u` is vec3, which has 3 of each constant's four numbers, and 4 is given after them");
    }

    #[test]
    fn counts_that_do_not_fit_are_told() {
        let error = |name: &str, count, numbers| uniform(code(name), count, 0).lay_out(&vec![0; numbers]).unwrap_err();
        assert_eq!(error("vec3", 1, 7), "`u` is vec3 and takes 3 numbers (or 4, four for each constant); 7 are given");
        assert_eq!(
            error("mat3x3", 1, 8),
            "`u` is mat3x3 and takes 9 numbers, column by column (or 12, four for each constant); 8 are given"
        );
        assert_eq!(error("vec4", 1, 3), "`u` is vec4 and takes 4 numbers; 3 are given");
        assert_eq!(
            error("float", 5, 6),
            "`u` is float[5] and takes 5 numbers (or 20, four for each constant); 6 are given"
        );
    }

    #[test]
    fn elements_of_arrays_are_uniforms() {
        let bones = Uniform { place: UniformPlace::Buffer(1, 8), ..uniform(code("mat4x4"), 32, 0) };
        let third = bones.element(3).unwrap();
        assert_eq!((third.place, third.count, third.constants()), (UniformPlace::Buffer(1, 8 + 12), 1, 4));
        assert!(bones.element(32).is_none());
        assert_eq!(bones.beginning(48).count, 3);
        assert_eq!(bones.beginning(50).count, 32);
        // Nine numbers, or twelve with padding.
        let turns = uniform(code("mat3x3"), 4, 0);
        assert_eq!((turns.beginning(18).count, turns.beginning(12).count, turns.matrix()), (2, 1, Some([3, 3])));
    }

    #[test]
    fn integers_are_integers() {
        let int = uniform(code("int"), 1, 0);
        let laid_out = |bits| int.lay_out(&[bits]).map(|all| all[0].1);
        assert_eq!(laid_out(5f32.to_bits()), Ok(5));
        assert_eq!(laid_out((-1f32).to_bits()), Ok(u32::MAX));
        assert_eq!(laid_out(5), Ok(5));
        assert_eq!(laid_out(u32::MAX), Ok(u32::MAX));
        assert_eq!(laid_out(0.5f32.to_bits()), Err("`u` is int, and 0.5 is no integer of 32 bits".to_owned()));
        assert_eq!(uniform(code("bool"), 1, 0).lay_out(&[1f32.to_bits()]), Ok(vec![(0, 1)]));
    }
}
