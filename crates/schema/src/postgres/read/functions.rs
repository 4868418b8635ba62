//! Functions.

use squawk_parser::SyntaxKind as K;

use super::parts::{parts, type_in, type_of, word};
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::model::{Argument, Body, Function, Returns, Sql};
use crate::postgres::name::string;
use crate::postgres::parser::{Node, is_type};

impl Reader<'_> {
    pub(super) fn create_function(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node.child(K::FUNCTION_NAME);
        let name = name.or_else(|| node.child(K::PROCEDURE_NAME));
        let name = name.ok_or(Trouble::Opaque)?;
        let mut function = Function {
            name: self.name(name),
            language: "sql".to_owned(),
            volatility: "VOLATILE",
            parallel: "UNSAFE".to_owned(),
            is_procedure: node.kind() == K::CREATE_PROCEDURE,
            meta: self.meta(statement),
            ..Function::default()
        };
        if let Some(list) = node.child(K::PARAM_LIST) {
            function.arguments = list.all(K::PARAM).map(argument).collect();
        }
        function.signature = signature(&function.arguments);
        if let Some(returns) = node.child(K::RET_TYPE) {
            returned(&mut function, returns);
        }
        if let Some(options) = node.child(K::FUNC_OPTION_LIST) {
            for option in options.children() {
                self.function_option(&mut function, option);
            }
        }
        let body = node
            .children()
            .find(|child| matches!(child.kind(), K::RETURN_STMT | K::ATOMIC_BODY | K::BEGIN));
        let body = body
            .or_else(|| node.find(K::RETURN_STMT))
            .or_else(|| node.find(K::ATOMIC_BODY));
        if let Some(body) = body
            && function.body == Body::default()
        {
            function.body = Body::Sql(Sql(body.text().to_owned()));
        }
        let key = (function.name.clone(), function.signature.clone());
        self.schema.functions.insert(key, function);
        Ok(())
    }

    fn function_option(&self, function: &mut Function, option: Node<'_>) {
        let last = option.tokens().last().map(Node::text).unwrap_or_default();
        match option.kind() {
            K::LANGUAGE_FUNC_OPTION => function.language = word_or_string(last),
            K::IMMUTABLE => function.volatility = "IMMUTABLE",
            K::STABLE => function.volatility = "STABLE",
            K::VOLATILE => function.volatility = "VOLATILE",
            K::STRICT_FUNC_OPTION | K::RETURNS_NULL_ON_NULL_INPUT_FUNC_OPTION => {
                function.strict = true
            }
            K::CALLED_ON_NULL_INPUT_FUNC_OPTION => function.strict = false,
            K::SECURITY_DEFINER_FUNC_OPTION => function.security_definer = true,
            K::LEAKPROOF_FUNC_OPTION => function.leakproof = true,
            K::WINDOW_FUNC_OPTION => function.window = true,
            K::PARALLEL_FUNC_OPTION => function.parallel = last.to_uppercase(),
            K::COST_FUNC_OPTION => function.cost = Some(last.to_owned()),
            K::ROWS_FUNC_OPTION => function.rows = Some(last.to_owned()),
            K::SUPPORT_FUNC_OPTION => function.support = Some(parts(option).split_off(1).join(".")),
            K::SET_FUNC_OPTION => setting(function, option),
            K::AS_FUNC_OPTION => {
                let texts: Vec<String> = option
                    .inside()
                    .filter(|node| node.kind() == K::LITERAL)
                    .map(|literal| string(literal.text()))
                    .collect();
                function.body = match texts.as_slice() {
                    [library, symbol] => Body::Library(library.clone(), Some(symbol.clone())),
                    [text] if function.language == "c" => Body::Library(text.clone(), None),
                    [text, ..] => Body::Text(text.clone()),
                    [] => Body::default(),
                };
            }
            _ => {}
        }
    }
}

fn word_or_string(text: &str) -> String {
    if text.starts_with('\'') {
        string(text)
    } else {
        text.to_lowercase()
    }
}

fn setting(function: &mut Function, option: Node<'_>) {
    let Some(name) = option.find(K::CONFIG_PARAMETER_REF) else {
        return;
    };
    let Some(value) = option.find(K::TO_CONFIG_VALUE) else {
        return;
    };
    let values: Vec<String> = value
        .children()
        .skip(1)
        .filter(|part| part.kind() != K::COMMA)
        .map(|part| string(part.text()).trim_matches('"').to_owned())
        .collect();
    let name = word(name);
    // pg_get_functiondef writes lists as one string with commas inside.
    function
        .settings
        .insert(name, values.join(", ").replace('"', ""));
}

pub(super) fn argument(node: Node<'_>) -> Argument {
    let mode = node
        .children()
        .find_map(|child| match child.kind() {
            K::PARAM_OUT => Some("OUT"),
            K::PARAM_IN_OUT => Some("INOUT"),
            K::PARAM_VARIADIC => Some("VARIADIC"),
            _ => None,
        })
        .unwrap_or("IN");
    let default = node.child(K::PARAM_DEFAULT).and_then(|default| {
        let first = default.children().nth(1)?;
        Some(Sql(first
            .text_to(default.children().last().unwrap_or(first))
            .to_owned()))
    });
    Argument {
        mode,
        name: node.child(K::PARAM_NAME).map(word),
        data_type: type_in(node).unwrap_or_default(),
        default,
    }
}

/// Types of what callers give.
pub(super) fn signature(arguments: &[Argument]) -> String {
    let given = arguments
        .iter()
        .filter(|argument| !matches!(argument.mode, "OUT" | "TABLE"));
    given
        .map(|argument| {
            // Lengths do not tell functions apart, and neither does the way a type was found.
            let mut data_type = argument.data_type.clone();
            data_type.args.clear();
            data_type.schema = None;
            data_type.sql()
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn returned(function: &mut Function, node: Node<'_>) {
    if let Some(table) = node.child(K::RETURN_TABLE_ARG_LIST) {
        for column in table.all(K::RETURN_TABLE_COLUMN) {
            function.arguments.push(Argument {
                mode: "TABLE",
                name: column.child(K::COLUMN_NAME).map(word),
                data_type: type_in(column).unwrap_or_default(),
                default: None,
            });
        }
        return;
    }
    let set = node.inside().any(|inner| inner.kind() == K::SETOF_KW);
    if let Some(data_type) = node.children().find(|child| is_type(child.kind())) {
        function.returns = Some(Returns {
            set,
            data_type: type_of(data_type),
        });
    }
}
