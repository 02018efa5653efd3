//! Vectors of sixteen numbers in the widest registers of the processor.
//!
//! Operations have one order and are not fused, so AVX-512, AVX2 and the baseline give identical
//! bits. Compilers vectorize plain loops only sometimes, so this file uses intrinsics. It contains
//! all unsafe code: only a [`Kernel`] that [`Width::run`] started uses a kind of registers, after
//! the processor was found to support it.

#![allow(unsafe_code, reason = "the processor's wide registers; see above")]
#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the processor's width")]

/// Numbers per vector.
pub const LANES: usize = 16;

/// Vector in memory.
pub type Lanes = [f32; LANES];

/// Vector in registers.
pub trait Vector: Copy {
    /// Numbers per register.
    const HELD: usize;

    /// Fills a vector with one number.
    fn splat(number: f32) -> Self;
    /// Loads a vector.
    fn load(from: &Lanes) -> Self;
    /// Stores a vector.
    fn store(self, to: &mut Lanes);
    /// Adds.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// Subtracts.
    #[must_use]
    fn sub(self, other: Self) -> Self;
    /// Multiplies.
    #[must_use]
    fn mul(self, other: Self) -> Self;
    /// Divides.
    #[must_use]
    fn div(self, other: Self) -> Self;
    /// Minimum; `other` if one of both is NaN.
    #[must_use]
    fn smaller(self, other: Self) -> Self;
    /// Maximum; `other` if one of both is NaN.
    #[must_use]
    fn larger(self, other: Self) -> Self;
}

/// Code that is compiled for all widths. It must be inlined, without closures.
pub trait Kernel {
    /// Result.
    type Output;

    /// Runs the code.
    fn run<V: Vector>(self) -> Self::Output;
}

/// Supported kind of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Baseline,
}

impl Width {
    /// Returns the supported kinds, the widest first.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                all.push(Self(Kind::Avx512));
            }
            if is_x86_feature_detected!("avx2") {
                all.push(Self(Kind::Avx2));
            }
        }
        all.push(Self(Kind::Baseline));
        all
    }

    /// Returns the widest kind.
    pub fn widest() -> Self {
        static WIDEST: std::sync::OnceLock<Width> = std::sync::OnceLock::new();
        *WIDEST.get_or_init(|| Self::all().first().copied().unwrap_or(Self(Kind::Baseline)))
    }

    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "AVX2",
            Kind::Baseline => "baseline",
        }
    }

    /// Runs a kernel with these registers.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            // SAFETY: a `Width` of this kind exists only if the processor supports these
            // instructions.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::avx512(kernel) },
            // SAFETY: a `Width` of this kind exists only if the processor supports these
            // instructions.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { x86::avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            Kind::Baseline => kernel.run::<x86::Sse>(),
            #[cfg(not(target_arch = "x86_64"))]
            Kind::Baseline => kernel.run::<plain::Plain>(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128, __m256, __m512, _mm_add_ps, _mm_div_ps, _mm_loadu_ps, _mm_max_ps, _mm_min_ps, _mm_mul_ps,
        _mm_set1_ps, _mm_storeu_ps, _mm_sub_ps, _mm256_add_ps, _mm256_div_ps, _mm256_loadu_ps, _mm256_max_ps,
        _mm256_min_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm512_add_ps,
        _mm512_div_ps, _mm512_loadu_ps, _mm512_max_ps, _mm512_min_ps, _mm512_mul_ps, _mm512_set1_ps,
        _mm512_storeu_ps, _mm512_sub_ps,
    };

    use super::{Kernel, LANES, Lanes, Vector};

    #[target_feature(enable = "avx512f")]
    pub fn avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx512>()
    }

    #[target_feature(enable = "avx2")]
    pub fn avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }

    /// Vector in registers of one width; private to this module, so that only a kernel has one.
    macro_rules! vector {
        ($name:ident, $register:ty, $width:literal, $held:literal, $splat:ident, $load:ident, $store:ident,
         $add:ident, $sub:ident, $mul:ident, $div:ident, $smaller:ident, $larger:ident) => {
            #[derive(Clone, Copy)]
            pub struct $name([$register; LANES / $width]);

            impl Vector for $name {
                const HELD: usize = $held;

                #[inline(always)]
                fn splat(number: f32) -> Self {
                    // SAFETY: only a kernel on a supporting processor has this type, for all
                    // methods here.
                    unsafe { Self([$splat(number); LANES / $width]) }
                }

                #[inline(always)]
                fn load(from: &Lanes) -> Self {
                    let mut vector = Self::splat(0.0);
                    for (register, from) in vector.0.iter_mut().zip(from.as_chunks::<$width>().0) {
                        // SAFETY: the source has this many numbers.
                        *register = unsafe { $load(from.as_ptr()) };
                    }
                    vector
                }

                #[inline(always)]
                fn store(self, to: &mut Lanes) {
                    for (register, to) in self.0.into_iter().zip(to.as_chunks_mut::<$width>().0) {
                        // SAFETY: the source has this many numbers.
                        unsafe { $store(to.as_mut_ptr(), register) };
                    }
                }

                vector!(each $width, add $add, sub $sub, mul $mul, div $div, smaller $smaller, larger $larger);
            }
        };
        (each $width:literal, $($verb:ident $instruction:ident),*) => {
            $(
                #[inline(always)]
                fn $verb(mut self, other: Self) -> Self {
                    for (register, other) in self.0.iter_mut().zip(other.0) {
                        // SAFETY: see `splat`.
                        *register = unsafe { $instruction(*register, other) };
                    }
                    self
                }
            )*
        };
    }

    vector!(
        Avx512,
        __m512,
        16,
        32,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_div_ps,
        _mm512_min_ps,
        _mm512_max_ps
    );
    vector!(
        Avx2,
        __m256,
        8,
        8,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_div_ps,
        _mm256_min_ps,
        _mm256_max_ps
    );
    vector!(
        Sse,
        __m128,
        4,
        4,
        _mm_set1_ps,
        _mm_loadu_ps,
        _mm_storeu_ps,
        _mm_add_ps,
        _mm_sub_ps,
        _mm_mul_ps,
        _mm_div_ps,
        _mm_min_ps,
        _mm_max_ps
    );
}

#[cfg(not(target_arch = "x86_64"))]
mod plain {
    use super::{LANES, Lanes, Vector};

    /// Vector for the compiler's own vectorization.
    #[derive(Clone, Copy)]
    pub struct Plain(Lanes);

    impl Plain {
        #[inline(always)]
        fn each(mut self, other: Self, verb: impl Fn(f32, f32) -> f32) -> Self {
            self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a = verb(*a, b));
            self
        }
    }

    impl Vector for Plain {
        const HELD: usize = 4;

        #[inline(always)]
        fn splat(number: f32) -> Self {
            Self([number; LANES])
        }
        #[inline(always)]
        fn load(from: &Lanes) -> Self {
            Self(*from)
        }
        #[inline(always)]
        fn store(self, to: &mut Lanes) {
            *to = self.0;
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self.each(other, |a, b| a + b)
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            self.each(other, |a, b| a - b)
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            self.each(other, |a, b| a * b)
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            self.each(other, |a, b| a / b)
        }
        #[inline(always)]
        fn smaller(self, other: Self) -> Self {
            self.each(other, |a, b| if a < b { a } else { b })
        }
        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            self.each(other, |a, b| if a > b { a } else { b })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All operations on two vectors.
    struct AllOperations<'a>(&'a Lanes, &'a Lanes);

    impl Kernel for AllOperations<'_> {
        type Output = [Lanes; 7];

        #[inline(always)]
        fn run<V: Vector>(self) -> [Lanes; 7] {
            let (a, b) = (V::load(self.0), V::load(self.1));
            let results =
                [a.add(b), a.sub(b), a.mul(b), a.div(b), a.smaller(b), a.larger(b), V::splat(self.0[3])];
            let mut out = [[0.0; LANES]; 7];
            for (out, result) in out.iter_mut().zip(results) {
                result.store(out);
            }
            out
        }
    }

    #[test]
    fn all_widths_give_identical_bits() {
        let a: Lanes = std::array::from_fn(|lane| (lane as f32 - 7.3) / 3.0);
        let mut b: Lanes = std::array::from_fn(|lane| 1.7 / (lane as f32 - 4.5));
        b[9] = f32::NAN;
        let plain = |verb: fn(f32, f32) -> f32| std::array::from_fn(|lane| verb(a[lane], b[lane]).to_bits());
        let expected: [[u32; LANES]; 7] = [
            plain(|a, b| a + b),
            plain(|a, b| a - b),
            plain(|a, b| a * b),
            plain(|a, b| a / b),
            plain(|a, b| if a < b { a } else { b }),
            plain(|a, b| if a > b { a } else { b }),
            [a[3].to_bits(); LANES],
        ];
        for width in Width::all() {
            let results = width.run(AllOperations(&a, &b)).map(|lanes| lanes.map(f32::to_bits));
            assert_eq!(results, expected, "{}", width.name());
        }
    }
}
