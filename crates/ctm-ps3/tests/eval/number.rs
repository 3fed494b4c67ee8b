//! Numbers with a bound of how far off they may be.

/// A number and how far off it may be; infinite when nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct N {
    pub v: f64,
    pub e: f64,
}

pub const EPS: f64 = 1.0 / 4_194_304.0;

pub fn n(v: f64, e: f64) -> N {
    if !v.is_finite() || v.abs() > 1e30 || !e.is_finite() {
        return UNKNOWN;
    }
    N { v, e: e + v.abs() * EPS + 1e-35 }
}

pub const UNKNOWN: N = N { v: 0.0, e: f64::INFINITY };

pub fn exact(v: f32) -> N {
    N { v: f64::from(v), e: 0.0 }
}

impl N {
    pub fn known(self) -> bool {
        self.e.is_finite()
    }
    pub fn neg(self) -> N {
        N { v: -self.v, ..self }
    }
    pub fn abs(self) -> N {
        N { v: self.v.abs(), ..self }
    }
    pub fn add(self, o: N) -> N {
        if self.e == 0.0 && o.e == 0.0 && f64::from((self.v + o.v) as f32) == self.v + o.v {
            return N { v: self.v + o.v, e: 0.0 };
        }
        // The terms may be rounded before they cancel.
        n(self.v + o.v, self.e + o.e + (self.v.abs() + o.v.abs()) * EPS)
    }
    pub fn mul(self, o: N) -> N {
        let v = self.v * o.v;
        if self.e == 0.0 && o.e == 0.0 && f64::from(v as f32) == v {
            return N { v, e: 0.0 };
        }
        n(v, self.v.abs() * o.e + o.v.abs() * self.e + self.e * o.e)
    }
    /// Its sign: -1, 0, 1, if that is sure.
    pub fn sign(self) -> Option<i32> {
        if self.e == 0.0 {
            return Some(if self.v > 0.0 { 1 } else { -i32::from(self.v < 0.0) });
        }
        (self.v.abs() > self.e).then_some(if self.v > 0.0 { 1 } else { -1 })
    }
    pub fn saturate(self) -> N {
        if !self.known() {
            return self;
        }
        N { v: self.v.clamp(0.0, 1.0), ..self }
    }
    /// The value of a function whose change is at most `slope` here.
    pub fn map(self, f: impl Fn(f64) -> f64, slope: f64) -> N {
        if !self.known() {
            return self;
        }
        n(f(self.v), self.e * slope)
    }
    pub fn pick(sign: Option<i32>, a: N, b: N, first: impl Fn(i32) -> bool) -> N {
        match sign {
            Some(s) => {
                if first(s) {
                    a
                } else {
                    b
                }
            }
            None if a == b => a,
            None => UNKNOWN,
        }
    }
}
