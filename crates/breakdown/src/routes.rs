//! Names for routes where the framework gives none.

use std::collections::HashSet;

use recording::TextId;
use routes::{cluster, matching};

/// Names the route of each line. `lines` holds name, text, and the framework's own pattern if
/// reported for a request with that line.
pub(crate) fn name(lines: &[(TextId, String, Option<&str>)]) -> Vec<(TextId, String)> {
    let patterns: HashSet<&str> = lines.iter().filter_map(|(_, _, route)| *route).collect();
    let mut named = Vec::with_capacity(lines.len());
    let mut unnamed = Vec::new();
    for (id, line, route) in lines {
        match route.or_else(|| matching(&patterns, line)) {
            Some(route) => named.push((*id, route.to_owned())),
            None => unnamed.push((*id, line.as_str())),
        }
    }
    let texts: Vec<&str> = unnamed.iter().map(|(_, line)| *line).collect();
    let ids = unnamed.iter().map(|(id, _)| *id);
    named.extend(ids.zip(cluster(&texts)));
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_patterns_name_unseen_lines() {
        let lines = [
            (
                TextId(1),
                "GET /channel/1".to_owned(),
                Some("GET /channel/:channel_id"),
            ),
            (TextId(2), "GET /channel/2".to_owned(), None),
            (TextId(3), "POST /channel/2".to_owned(), None),
            (
                TextId(4),
                "GET /channel/new".to_owned(),
                Some("GET /channel/new"),
            ),
        ];
        let mut named = name(&lines);
        named.sort();
        let names: Vec<&str> = named.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "GET /channel/:channel_id",
                "GET /channel/:channel_id",
                "POST /channel/:id",
                "GET /channel/new"
            ]
        );
    }
}
