//! Data types: synonyms, default lengths, display widths.

use super::Rules;
use crate::mysql::model::DataType;

const SYNONYMS: [(&str, &str); 22] = [
    ("bool", "tinyint"),
    ("boolean", "tinyint"),
    ("character", "char"),
    ("clob", "longtext"),
    ("dec", "decimal"),
    ("fixed", "decimal"),
    ("float4", "float"),
    ("float8", "double"),
    ("geomcollection", "geometrycollection"),
    ("int1", "tinyint"),
    ("int2", "smallint"),
    ("int3", "mediumint"),
    ("int4", "int"),
    ("int8", "bigint"),
    ("integer", "int"),
    ("middleint", "mediumint"),
    ("nchar", "char"),
    ("number", "decimal"),
    ("numeric", "decimal"),
    ("nvarchar", "varchar"),
    ("real", "double"),
    ("varchar2", "varchar"),
];

/// Default display widths of integers, unsigned and signed.
const WIDTHS: [(&str, &str, &str); 5] = [
    ("tinyint", "3", "4"),
    ("smallint", "5", "6"),
    ("mediumint", "8", "9"),
    ("int", "10", "11"),
    ("bigint", "20", "20"),
];

/// Largest precision `p` of a four-byte `float(p)`.
const FLOAT_BITS_MAX: u32 = 24;

/// Largest sizes in bytes of texts, with the word in front.
const SIZES: [(u64, &str); 4] = [
    (255, "tiny"),
    (65_535, ""),
    (16_777_215, "medium"),
    (u64::MAX, "long"),
];

pub(super) fn is_text(name: &str) -> bool {
    matches!(
        name,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set"
    )
}

/// Returns the data type as stored by a server.
pub(super) fn stored(written: &DataType, rules: &Rules) -> DataType {
    let mut data_type = written.clone();
    let synonym = SYNONYMS.iter().find(|(name, _)| *name == written.name);
    if let Some((_, name)) = synonym {
        data_type.name = (*name).to_owned();
    }
    match written.name.as_str() {
        "bool" | "boolean" => data_type.arguments = vec!["1".to_owned()],
        "nchar" | "nvarchar" => data_type.charset = Some("utf8mb3".to_owned()),
        "json" if rules.is_mariadb => {
            data_type.name = "longtext".to_owned();
            data_type.charset = Some("utf8mb4".to_owned());
            data_type.collation = Some("utf8mb4_bin".to_owned());
        }
        _ => {}
    }
    if data_type.charset.as_deref() == Some("binary") {
        to_bytes(&mut data_type);
    }
    widths(&mut data_type, rules);
    lengths(&mut data_type);
    data_type
}

fn to_bytes(data_type: &mut DataType) {
    data_type.name = match data_type.name.as_str() {
        "char" => "binary".to_owned(),
        "varchar" => "varbinary".to_owned(),
        name => name.replace("text", "blob"),
    };
}

fn widths(data_type: &mut DataType, rules: &Rules) {
    let Some((name, unsigned, signed)) = WIDTHS.iter().find(|(name, _, _)| *name == data_type.name)
    else {
        return;
    };
    let is_flag = *name == "tinyint" && !data_type.is_unsigned && data_type.arguments == ["1"];
    if !(rules.has_widths || data_type.is_zerofill || is_flag) {
        data_type.arguments.clear();
    } else if data_type.arguments.is_empty() {
        let width = if data_type.is_unsigned {
            unsigned
        } else {
            signed
        };
        data_type.arguments.push((*width).to_owned());
    }
}

fn lengths(data_type: &mut DataType) {
    let count = data_type.arguments.len();
    match (data_type.name.as_str(), count) {
        ("decimal", 0) => data_type.arguments = vec!["10".to_owned(), "0".to_owned()],
        ("decimal", 1) => data_type.arguments.push("0".to_owned()),
        ("bit" | "char" | "binary", 0) => data_type.arguments.push("1".to_owned()),
        ("year", _) => data_type.arguments.clear(),
        ("datetime" | "timestamp" | "time", 1) if data_type.arguments[0] == "0" => {
            data_type.arguments.clear()
        }
        ("float", 1) => {
            let bits: u32 = data_type.arguments[0].parse().unwrap_or(0);
            data_type.arguments.clear();
            if bits > FLOAT_BITS_MAX {
                data_type.name = "double".to_owned();
            }
        }
        ("text" | "blob", 1) => {
            let letters: u64 = data_type.arguments[0].parse().unwrap_or(0);
            let bytes = match data_type.name.as_str() {
                "text" => letters.saturating_mul(bytes_per_letter(data_type.charset.as_deref())),
                _ => letters,
            };
            data_type.arguments.clear();
            let size = SIZES.iter().find(|(largest, _)| bytes <= *largest);
            let word = size.map_or("", |(_, word)| word);
            data_type.name = format!("{word}{}", data_type.name);
        }
        _ => {}
    }
}

fn bytes_per_letter(charset: Option<&str>) -> u64 {
    match charset {
        Some("latin1" | "ascii") => 1,
        Some("utf8" | "utf8mb3") => 3,
        _ => 4,
    }
}

impl DataType {
    /// Without character set and collation.
    pub(in crate::mysql) fn print(&self) -> String {
        let mut text = self.name.clone();
        if !self.arguments.is_empty() {
            text = format!("{text}({})", self.arguments.join(","));
        }
        if self.is_unsigned {
            text.push_str(" unsigned");
        }
        if self.is_zerofill {
            text.push_str(" zerofill");
        }
        text
    }
}
