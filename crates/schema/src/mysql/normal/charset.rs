//! Character sets and collations: columns inherit from the table, tables from the database.

use super::Rules;
use crate::Server;
use crate::mysql::model::{DataType, Options};

/// Character set and collation of texts; `None` where unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    pub charset: Option<String>,
    pub collation: Option<String>,
}

impl Texts {
    pub fn of_table(options: &Options, server: &Server, rules: &Rules) -> Texts {
        let database = Texts {
            charset: server.charset.as_deref().map(charset_name),
            collation: server
                .collation
                .as_deref()
                .map(|name| collation_name(name, server.charset.as_deref())),
        };
        database.with(
            options.charset.as_deref(),
            options.collation.as_deref(),
            false,
            rules,
        )
    }

    pub fn of_column(&self, data_type: &DataType, rules: &Rules) -> Texts {
        self.with(
            data_type.charset.as_deref(),
            data_type.collation.as_deref(),
            data_type.is_binary,
            rules,
        )
    }

    fn with(
        &self,
        charset: Option<&str>,
        collation: Option<&str>,
        is_binary: bool,
        rules: &Rules,
    ) -> Texts {
        let charset = charset.map(charset_name);
        if let Some(collation) = collation {
            let outer = charset.as_deref().or(self.charset.as_deref());
            let collation = collation_name(collation, outer);
            let of_collation = collation.split('_').next().unwrap_or_default().to_owned();
            let is_general = of_collation == "uca1400";
            return Texts {
                charset: if is_general {
                    charset
                } else {
                    Some(of_collation)
                },
                collation: Some(collation),
            };
        }
        if is_binary {
            let charset = charset.or_else(|| self.charset.clone());
            return Texts {
                collation: charset.as_ref().map(|charset| format!("{charset}_bin")),
                charset,
            };
        }
        match charset {
            Some(charset) => Texts {
                collation: default_collation(&charset, rules),
                charset: Some(charset),
            },
            None => self.clone(),
        }
    }
}

/// `utf8` is short for `utf8mb3`.
pub(super) fn charset_name(name: &str) -> String {
    match name.to_lowercase().as_str() {
        "utf8" => "utf8mb3".to_owned(),
        name => name.to_owned(),
    }
}

fn collation_name(name: &str, charset: Option<&str>) -> String {
    let name = name.to_lowercase();
    if let Some(rest) = name.strip_prefix("utf8_") {
        return format!("utf8mb3_{rest}");
    }
    match charset {
        Some(charset) if name.starts_with("uca1400_") => {
            format!("{}_{name}", charset_name(charset))
        }
        _ => name,
    }
}

/// Default collation of a character set. For Unicode it differs by version.
fn default_collation(charset: &str, rules: &Rules) -> Option<String> {
    let is_unicode = matches!(charset, "utf8mb4" | "utf8mb3" | "ucs2" | "utf16" | "utf32");
    let rest = match charset {
        "binary" => return Some("binary".to_owned()),
        _ if is_unicode && !rules.is_known => return None,
        _ if is_unicode && rules.is_uca1400 => "uca1400_ai_ci",
        "utf8mb4" if !rules.is_mariadb => "0900_ai_ci",
        "latin1" | "swe7" | "dec8" => "swedish_ci",
        "big5" | "gbk" | "gb2312" | "gb18030" => "chinese_ci",
        "cp932" | "eucjpms" | "sjis" | "ujis" => "japanese_ci",
        "euckr" => "korean_ci",
        "hp8" => "english_ci",
        "tis620" => "thai_ci",
        _ => "general_ci",
    };
    Some(format!("{charset}_{rest}"))
}
