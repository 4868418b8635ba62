//! The languages of pages.

/// In which a page is written. Errors, `--help` and JSON are always English.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// The language of the templates, and the fallback for a missing translation.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

impl Language {
    /// Returns the language with a code, such as `ja`.
    pub fn named(code: &str) -> Option<Language> {
        match code {
            "en" => Some(Language::English),
            "ja" => Some(Language::Japanese),
            _ => None,
        }
    }

    /// The one of a locale such as `ja_JP.UTF-8`; English for all others.
    pub fn of_locale(locale: &str) -> Language {
        let code = locale.split(['_', '.', '@']).next().unwrap_or_default();
        Language::named(code).unwrap_or_default()
    }

    /// Code of the language for HTML's attribute `lang`.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Japanese => "ja",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_name_a_language() {
        let check =
            |locale, expected| assert_eq!(Language::of_locale(locale), expected, "{locale}");
        check("ja_JP.UTF-8", Language::Japanese);
        check("ja", Language::Japanese);
        check("jam_JM.UTF-8", Language::English);
        check("de_DE.UTF-8", Language::English);
        check("C.UTF-8", Language::English);
        check("", Language::English);
    }
}
