//! `PARTITION BY`.

use crate::mysql::cursor::Cursor;
use crate::mysql::expr::{self, Expr};
use crate::mysql::lexer::{Fault, Token};
use crate::mysql::model::{Partition, Partitioning};

/// `PARTITION BY …`, which is next.
pub(crate) fn partitioning(cursor: &mut Cursor<'_, '_>) -> Result<Partitioning, Fault> {
    let start = cursor.at;
    cursor.expect("PARTITION")?;
    cursor.expect("BY")?;
    let mut partitioning = Partitioning {
        has_bounds: cursor.is_any(&["RANGE", "LIST"]),
        is_range: cursor.is("RANGE"),
        ..Partitioning::default()
    };
    while !cursor.is_done() && !begins_list(cursor) {
        if cursor.is_op("(") {
            let inside = cursor.parens()?;
            if partitioning.key.is_empty() {
                partitioning.key = expr::text(inside);
            }
        } else {
            cursor.at += 1;
        }
    }
    let head = cursor.since(start);
    partitioning.head = expr::text(head);
    partitioning.norm = head_norm(head);
    if cursor.is_op("(") {
        partitioning.partitions = partitions(cursor)?;
    }
    Ok(partitioning)
}

fn begins_list(cursor: &Cursor<'_, '_>) -> bool {
    cursor.is_op("(") && cursor.peek_at(1).is_some_and(|next| next.is("PARTITION"))
}

impl Partitioning {
    /// So many partitions more or fewer, of which only the number counts.
    pub(in crate::mysql) fn resize(&mut self, more: i64) {
        let tokens = expr::lexed(&self.head);
        let mut pairs = tokens.windows(2);
        let number = pairs
            .find(|pair| pair[0].is("PARTITIONS"))
            .map(|pair| pair[1]);
        let listed = i64::try_from(self.partitions.len()).unwrap_or_default();
        let written = number.and_then(|number| number.text.parse().ok());
        let count = (written.unwrap_or(listed.max(1)) + more).max(1);
        self.partitions.clear();
        self.head = match number {
            Some(number) => {
                let (before, behind) = (&self.head[..number.at], &self.head[number.end()..]);
                format!("{before}{count}{behind}")
            }
            None => format!("{} PARTITIONS {count}", self.head),
        };
        self.norm = head_norm(&expr::lexed(&self.head));
    }
}

/// One partition goes without saying, and so does the newer algorithm of KEY.
fn head_norm(head: &[Token<'_>]) -> String {
    let norm = expr::canonical(head).to_lowercase();
    let norm = norm.replace("algorithm = 2 ", "");
    norm.strip_suffix(" partitions 1")
        .map_or(norm.clone(), str::to_owned)
}

/// `(PARTITION …, …)`
pub(crate) fn partitions(cursor: &mut Cursor<'_, '_>) -> Result<Vec<Partition>, Fault> {
    cursor.expect_op("(")?;
    let mut partitions = Vec::new();
    loop {
        partitions.push(partition(cursor)?);
        if !cursor.eat_op(",") {
            break;
        }
    }
    cursor.expect_op(")")?;
    Ok(partitions)
}

fn partition(cursor: &mut Cursor<'_, '_>) -> Result<Partition, Fault> {
    let start = cursor.at;
    cursor.expect("PARTITION")?;
    let name = cursor.name()?;
    let body = cursor.at;
    while !cursor.is_done() && !cursor.is_op(",") && !cursor.is_op(")") {
        if cursor.is_op("(") {
            cursor.parens()?;
        } else {
            cursor.at += 1;
        }
    }
    let body = cursor.since(body);
    let norm = partition_norm(body);
    let bound = behind(body, "THAN");
    let has_bound = !bound.is_empty() && !bound.iter().any(|token| token.is("MAXVALUE"));
    Ok(Partition {
        name,
        text: expr::text(cursor.since(start)),
        is_max: norm.contains("less than maxvalue"),
        values: expr::listed(behind(body, "IN"))
            .into_iter()
            .filter(|value| !value.iter().any(|token| token.is("DEFAULT")))
            .map(Expr::new)
            .collect(),
        bound: has_bound.then(|| expr::text(bound)),
        norm,
    })
}

/// Tokens in parentheses right behind a word.
fn behind<'t, 'a>(tokens: &'t [Token<'a>], word: &str) -> &'t [Token<'a>] {
    let place = tokens.iter().position(|token| token.is(word));
    let rest = place.map_or(&tokens[..0], |at| &tokens[at + 1..]);
    let mut cursor = Cursor::new(rest, 0);
    cursor.parens().unwrap_or_default()
}

/// Without the engine, which is the table's, and without parentheses around MAXVALUE.
fn partition_norm(tokens: &[Token<'_>]) -> String {
    let mut kept: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        if token.is("ENGINE") {
            index += 2;
            if tokens.get(index - 1).is_some_and(|next| next.is_op("=")) {
                index += 1;
            }
            continue;
        }
        kept.push(*token);
        index += 1;
    }
    let norm = expr::canonical(&kept);
    let norm = norm.replace("( MAXVALUE )", "maxvalue");
    norm.replace("VALUES LESS THAN", "values less than")
        .replace("less than MAXVALUE", "less than maxvalue")
}
