//! Interval literals with a field.

/// Prints `interval '90' minute` like the server.
pub(crate) fn interval(value: &str, field: &str) -> String {
    let Ok(number) = value.parse::<i64>() else {
        return format!("{value} {field}");
    };
    match field {
        "hour" | "minute" | "second" => {
            let seconds = number
                * match field {
                    "hour" => 3600,
                    "minute" => 60,
                    _ => 1,
                };
            format!(
                "{:02}:{:02}:{:02}",
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60
            )
        }
        field if number == 1 => format!("1 {field}"),
        "month" => format!("{number} mons"),
        field => format!("{number} {field}s"),
    }
}
