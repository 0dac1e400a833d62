//! Figures of several rounds, and what is to be said of them.

use std::time::Duration;

/// A figure of each round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series(Vec<f64>);

impl Series {
    pub(crate) fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    pub(crate) fn push_time(&mut self, time: Duration) {
        self.push(time.as_secs_f64());
    }

    /// The quotients of the rounds.
    pub(crate) fn over(&self, other: &Self) -> Self {
        let pairs = self.0.iter().zip(&other.0);
        Self(pairs.map(|(one, other)| one / other).collect())
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The one in the middle, or between the two that are.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match (sorted.get(middle.wrapping_sub(1)), sorted.get(middle)) {
            (Some(below), Some(above)) if sorted.len().is_multiple_of(2) => {
                f64::midpoint(*below, *above)
            }
            (_, Some(above)) => *above,
            _ => f64::NAN,
        }
    }
}

/// The unit of a figure, which decides how it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// Requests or robots a second.
    PerSecond,
    /// Times, kept in seconds.
    Time,
    /// Amounts of memory, kept in bytes.
    Memory,
    Ratio,
    Count,
}

impl Unit {
    pub(crate) fn write(self, figure: f64) -> String {
        const MIB: f64 = 1024.0 * 1024.0;
        match self {
            Self::PerSecond => format!("{}/s", grouped(figure)),
            Self::Time if figure < 0.001 => format!("{:.0} µs", figure * 1e6),
            Self::Time if figure < 1.0 => format!("{:.2} ms", figure * 1e3),
            Self::Time => format!("{figure:.2} s"),
            Self::Memory => format!("{:.1} MiB", figure / MIB),
            Self::Ratio => format!("{figure:.2}"),
            Self::Count => grouped(figure),
        }
    }
}

/// A number with commas between its thousands.
pub(crate) fn thousands(number: u64) -> String {
    group(&number.to_string())
}

fn grouped(figure: f64) -> String {
    group(&format!("{figure:.0}"))
}

fn group(digits: &str) -> String {
    let mut written = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && !written.ends_with('-') {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// What a figure must reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
    /// It is only told.
    None,
}

impl Bound {
    pub(crate) fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(bound) => figure >= bound,
            Self::AtMost(bound) => figure <= bound,
            Self::Below(bound) => figure < bound,
            Self::None => true,
        }
    }

    pub(crate) fn write(self, unit: Unit) -> String {
        match self {
            Self::AtLeast(bound) => format!("≥ {}", unit.write(bound)),
            Self::AtMost(bound) => format!("≤ {}", unit.write(bound)),
            Self::Below(bound) => format!("< {}", unit.write(bound)),
            Self::None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        let series = |figures: &[f64]| Series(figures.to_vec()).median().to_string();
        assert_eq!(series(&[3.0]), "3");
        assert_eq!(series(&[3.0, 1.0]), "2");
        assert_eq!(series(&[9.0, 1.0, 4.0]), "4");
        assert_eq!(series(&[]), "NaN");
    }

    #[test]
    fn ratios_are_those_of_the_rounds() {
        let (ours, other) = (Series(vec![2.0, 9.0, 5.0]), Series(vec![1.0, 3.0, 5.0]));
        assert_eq!(ours.over(&other).0, [2.0, 3.0, 1.0]);
    }

    #[test]
    fn figures_are_written_with_their_unit() {
        for (unit, figure, written) in [
            (Unit::PerSecond, 1_234_567.8, "1,234,568/s"),
            (Unit::PerSecond, 123.0, "123/s"),
            (Unit::Time, 0.000_12, "120 µs"),
            (Unit::Time, 0.012, "12.00 ms"),
            (Unit::Time, 3.5, "3.50 s"),
            (Unit::Memory, 1024.0 * 1536.0, "1.5 MiB"),
            (Unit::Ratio, 0.7, "0.70"),
            (Unit::Count, -1000.0, "-1,000"),
            (Unit::Count, -100.0, "-100"),
        ] {
            assert_eq!(unit.write(figure), written);
        }
    }

    #[test]
    fn bounds_hold_up_to_the_bound() {
        assert!(Bound::AtLeast(1.0).holds(1.0) && !Bound::AtLeast(1.0).holds(0.9));
        assert!(Bound::AtMost(1.0).holds(1.0) && !Bound::AtMost(1.0).holds(1.1));
        assert!(Bound::Below(1.0).holds(0.9) && !Bound::Below(1.0).holds(1.0));
        // What could not be measured has reached nothing.
        assert!(!Bound::Below(1.0).holds(f64::NAN));
    }
}
