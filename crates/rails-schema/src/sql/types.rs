//! Column types of ActiveRecord in each server's SQL.

use schema::SyntaxError;

use super::options::Options;
use super::quote::Spelling;

/// Sizes in bytes up to which MySQL's kinds of texts reach, with the word before `text` or `blob`.
const SIZES: [(u64, &str); 4] = [
    (0xff, "tiny"),
    (0xffff, ""),
    (0xff_ffff, "medium"),
    (0xffff_ffff, "long"),
];

/// Longest `varbinary`; a longer binary is a blob.
const VARBINARY_MAX: u64 = 0xfff;

/// What the file says about a type.
pub(super) struct Asked {
    pub(super) word: String,
    pub(super) at: usize,
    pub(super) limit: Option<u64>,
    /// `Some(None)`: said to be `nil`.
    pub(super) precision: Option<Option<u64>>,
    pub(super) scale: Option<u64>,
    pub(super) size: Option<String>,
    pub(super) enum_type: Option<String>,
    pub(super) is_unsigned: bool,
    pub(super) is_array: bool,
    /// Whether a `datetime` of which nothing is said has microseconds (ActiveRecord 7.0 and later).
    pub(super) is_datetime_fine: bool,
}

impl Asked {
    pub(super) fn new(
        word: &str,
        at: usize,
        options: &Options<'_>,
        is_datetime_fine: bool,
    ) -> Result<Asked, SyntaxError> {
        let precision = match options.given("precision") {
            None => None,
            Some(_) => Some(options.number("precision")?),
        };
        let (word, is_unsigned) = match word.strip_prefix("unsigned_") {
            Some(word) => (word, true),
            None => (word, false),
        };
        Ok(Asked {
            word: word.to_owned(),
            at,
            limit: options.number("limit")?,
            precision,
            scale: options.number("scale")?,
            size: options.word("size")?,
            enum_type: options.word("enum_type")?,
            is_unsigned: options.flag("unsigned")? || is_unsigned,
            is_array: options.flag("array")?,
            is_datetime_fine,
        })
    }

    /// Returns the type in SQL, or the reason for refusing one.
    pub(super) fn sql(&self, spelling: Spelling) -> Result<String, String> {
        let base = match spelling {
            _ if spelling.is_mysql() => self.mysql()?,
            _ if spelling.is_postgres() => self.postgres()?,
            _ => self.sqlite()?,
        };
        let unsigned = if self.is_unsigned && spelling.is_mysql() {
            " unsigned"
        } else {
            ""
        };
        let array = if self.is_array && spelling.is_postgres() {
            "[]"
        } else {
            ""
        };
        Ok(format!("{base}{unsigned}{array}"))
    }

    fn mysql(&self) -> Result<String, String> {
        let word = self.word.as_str();
        Ok(match word {
            "string" => format!("varchar({})", self.limit.unwrap_or(255)),
            "text" => self.sized("text")?,
            "blob" => self.sized("blob")?,
            "binary" => match self.limit {
                Some(limit) if limit <= VARBINARY_MAX => format!("varbinary({limit})"),
                _ => self.sized("blob")?,
            },
            "integer" => self.mysql_integer()?.to_owned(),
            "float" => format!("float({})", self.limit.unwrap_or(24)),
            "boolean" => "tinyint(1)".to_owned(),
            "decimal" | "numeric" => self.decimal()?,
            "datetime" | "timestamp" | "time" => self.with_precision(word)?,
            "tinytext" | "mediumtext" | "longtext" | "tinyblob" | "mediumblob" | "longblob"
            | "date" | "json" => word.to_owned(),
            _ => self.with_limit(word),
        })
    }

    fn mysql_integer(&self) -> Result<&'static str, String> {
        Ok(match self.limit {
            Some(1) => "tinyint",
            Some(2) => "smallint",
            Some(3) => "mediumint",
            None | Some(4) => "int",
            Some(5..=8) => "bigint",
            Some(limit) => return Err(format!("there is no integer of {limit} bytes")),
        })
    }

    fn sized(&self, word: &str) -> Result<String, String> {
        let prefix = match (self.size.as_deref(), self.limit) {
            (Some(size @ ("tiny" | "medium" | "long")), _) => size,
            (Some(size), _) => return Err(format!("there is no size {size}")),
            (None, None) => "",
            (None, Some(limit)) => {
                let fits = SIZES.iter().find(|(bytes, _)| limit <= *bytes);
                fits.ok_or_else(|| format!("there is no {word} of {limit} bytes"))?
                    .1
            }
        };
        Ok(format!("{prefix}{word}"))
    }

    fn postgres(&self) -> Result<String, String> {
        let word = self.word.as_str();
        Ok(match word {
            "string" => self.with_limit("character varying"),
            "text" | "date" | "json" | "jsonb" | "uuid" | "boolean" | "bigint" => word.to_owned(),
            "binary" | "blob" => "bytea".to_owned(),
            "integer" => match self.limit {
                Some(1 | 2) => "smallint".to_owned(),
                None | Some(3 | 4) => "integer".to_owned(),
                Some(5..=8) => "bigint".to_owned(),
                Some(limit) => return Err(format!("there is no integer of {limit} bytes")),
            },
            "float" => self.with_limit("float"),
            "decimal" | "numeric" => self.decimal()?,
            "datetime" => self.with_precision("timestamp")?,
            "timestamp" | "timestamptz" | "time" | "interval" => self.with_precision(word)?,
            "bit_varying" => self.with_limit("bit varying"),
            "enum" => {
                let name = self.enum_type.as_deref();
                // A name with letters in upper case was quoted by whoever wrote it.
                name.ok_or("an enum has to say its enum_type")?.to_owned()
            }
            _ => self.with_limit(word),
        })
    }

    fn sqlite(&self) -> Result<String, String> {
        let word = self.word.as_str();
        Ok(match word {
            "string" => self.with_limit("varchar"),
            "binary" | "blob" => self.with_limit("blob"),
            "decimal" | "numeric" => self.decimal()?,
            "datetime" | "timestamp" => self.with_precision("datetime")?,
            "time" => self.with_precision(word)?,
            _ => self.with_limit(word),
        })
    }

    fn with_limit(&self, name: &str) -> String {
        match self.limit {
            Some(limit) => format!("{name}({limit})"),
            None => name.to_owned(),
        }
    }

    fn decimal(&self) -> Result<String, String> {
        match (self.precision.flatten(), self.scale) {
            (Some(precision), Some(scale)) => Ok(format!("decimal({precision},{scale})")),
            (Some(precision), None) => Ok(format!("decimal({precision})")),
            (None, None) => Ok("decimal".to_owned()),
            (None, Some(_)) => Err("a decimal with a scale needs a precision".to_owned()),
        }
    }

    fn with_precision(&self, name: &str) -> Result<String, String> {
        let default = (self.word == "datetime" || name == "datetime") && self.is_datetime_fine;
        match self.precision.unwrap_or(default.then_some(6)) {
            None => Ok(name.to_owned()),
            Some(precision @ 0..=6) => Ok(format!("{name}({precision})")),
            Some(precision) => Err(format!(
                "{name} has at most 6 digits of a second, not {precision}"
            )),
        }
    }
}
