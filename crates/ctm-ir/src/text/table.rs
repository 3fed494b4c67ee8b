//! The table of operations: one row is a variant of the enum, a line of the printer and a case of the parser.

/// Makes an enum of operations with its text. Three rows,
///
/// ```text
/// /// The sign bit cleared.
/// Abs(a: Value) = "abs";
/// /// Stores into a variable.
/// Set { var: Var, value: Value, under: M } = "set";
/// /// Changes masks.
/// Mask(op: MaskOp) = "";
/// ```
///
/// become `Op::Abs(Value)`, `Op::Set { var, value, under }` and `Op::Mask(MaskOp)`, the text `abs v1`, `set r0.x, v1, active`, and for the row without a
/// name the text of the operation that it wraps. Fields are written in their order; one that is called `dst` is the result before `=`. `as Type` writes a field as
/// another type, which it becomes and comes from by `From`.
#[macro_export]
macro_rules! instructions {
    (
        $(#[$meta:meta])*
        pub enum $name:ident is $kind:literal {
            $(
                $(#[doc = $doc:literal])*
                $variant:ident
                $( ( $( $tf:ident : $tt:ty $(as $tw:ty)? ),* $(,)? ) )?
                $( { $( $(#[doc = $fdoc:literal])* $sf:ident : $st:ty $(as $sw:ty)? ),* $(,)? } )?
                = $text:literal ;
            )*
        }
    ) => {
        $(#[$meta])*
        #[allow(missing_docs, reason = "the line above a row describes its fields")]
        pub enum $name {
            $( $(#[doc = $doc])* $variant $( ( $($tt),* ) )? $( { $( $(#[doc = $fdoc])* $sf: $st ),* } )?, )*
        }

        impl $name {
            /// The name in the text form; none where a row only wraps other operations.
            #[allow(unused_variables, dead_code, reason = "a row may have no fields")]
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant $( ( $($tf),* ) )? $( { $($sf),* } )? => $text, )* }
            }
        }

        impl $crate::text::fields::Field for $name {
            const NAMED: bool = false;

            #[allow(unused_variables, unused_mut, reason = "a row may have no fields")]
            fn print(&self, out: &mut String) {
                use $crate::text::fields::{put, put_result};
                let shown = self.shown();
                match self { $(
                    Self::$variant $( ( $($tf),* ) )? $( { $($sf),* } )? => {
                        $( $( put_result(&<$crate::text_type!($tt $(as $tw)?)>::from(*$tf), stringify!($tf), out); )* )?
                        $( $( put_result(&<$crate::text_type!($st $(as $sw)?)>::from(*$sf), stringify!($sf), out); )* )?
                        out.push_str($text);
                        let mut before = if $text.is_empty() { None } else { Some(0usize) };
                        $( $( put(&<$crate::text_type!($tt $(as $tw)?)>::from(*$tf), stringify!($tf), (false, shown), &mut before, out); )* )?
                        $( $( put(&<$crate::text_type!($st $(as $sw)?)>::from(*$sf), stringify!($sf), (true, shown), &mut before, out); )* )?
                    }
                )* }
            }

            fn parse(line: &mut $crate::text::TextLine<'_>) -> Result<Self, $crate::text::TextError> {
                use $crate::text::fields::take;
                line.begin();
                let word = line.peek().unwrap_or_default();
                $(
                    let is_wrapper = $text.is_empty() $( $( && <$crate::text_type!($tt $(as $tw)?) as $crate::text::fields::Field>::names().contains(&word) )* )?;
                    if (!$text.is_empty() && word == $text) || is_wrapper {
                        if !is_wrapper {
                            line.word();
                        }
                        return Ok(Self::$variant
                            $( ( $( take::<$crate::text_type!($tt $(as $tw)?)>(line, stringify!($tf), false)?.into() ),* ) )?
                            $( { $( $sf: take::<$crate::text_type!($st $(as $sw)?)>(line, stringify!($sf), true)?.into() ),* } )?
                        );
                    }
                )*
                let names = $crate::text::line::listed(&Self::names());
                Err(line.error(format!(concat!("`{}` is no ", $kind, "; allowed: {}"), word, names)))
            }

            fn names() -> Vec<&'static str> {
                let mut names = Vec::new();
                $(
                    if !$text.is_empty() {
                        names.push($text);
                    }
                    $( $( if $text.is_empty() {
                        names.extend(<$crate::text_type!($tt $(as $tw)?) as $crate::text::fields::Field>::names());
                    } )* )?
                )*
                names
            }
        }
    };
}

/// The type that a field is written as.
#[doc(hidden)]
#[macro_export]
macro_rules! text_type {
    ($of:ty) => {
        $of
    };
    ($of:ty as $text:ty) => {
        $text
    };
}
