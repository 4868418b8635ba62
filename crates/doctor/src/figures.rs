//! Figures for people and for evidence.

/// A factor with two digits behind the point.
pub(crate) fn factor(factor: f64) -> String {
    format!("{factor:.2}")
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 10.0 => format!("{p:.0} %"),
        p if p >= 1.0 => format!("{p:.1} %"),
        p => format!("{p:.2} %"),
    }
}

/// A duration in the unit that suits it.
pub(crate) fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    match value {
        value if value < 10.0 => format!("{value:.2} {unit}"),
        value if value < 100.0 => format!("{value:.1} {unit}"),
        value => format!("{value:.0} {unit}"),
    }
}

/// Bytes in the binary unit that suits them.
pub(crate) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match value {
        value if unit == 0 || value >= 100.0 || value.fract() == 0.0 => {
            format!("{value:.0} {}", UNITS[unit])
        }
        value => format!("{value:.1} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_unit_that_suits_them() {
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(duration(43.2), "43.2 ns");
        assert_eq!(duration(1_500_000.0), "1.50 ms");
        assert_eq!(bytes(8_388_608.0), "8 MB");
        assert_eq!(bytes(1_610_612_736.0), "1.5 GB");
        assert_eq!(bytes(12.0), "12 B");
    }
}
