//! SQL text in, digest out: the statement with its literals taken out.
