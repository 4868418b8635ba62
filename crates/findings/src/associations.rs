//! Associations between the app's models, and an object mapper's way to load what a loop reads one
//! by one.

use std::collections::{BTreeMap, BTreeSet};

use recording::Recording;

/// Prefix of an association among the settings of a process.
const SETTING: &str = "association ";

/// A relation of two models.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Association {
    mapper: Mapper,
    /// Such as `Order`.
    pub(crate) model: String,
    /// Such as `customer`.
    pub(crate) name: String,
    /// The model's table.
    pub(crate) from: String,
    /// The table whose rows the association names.
    to: String,
    /// The column compared: of the associated table, or of the one between.
    column: String,
    /// The table joining the two, where there is one.
    through: Option<String>,
}

/// An object mapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mapper {
    ActiveRecord,
    Sequel,
}

impl Mapper {
    /// Returns the mapper with the name reported by the agent.
    pub(crate) fn named(name: &str) -> Option<Mapper> {
        match name {
            "ActiveRecord" => Some(Mapper::ActiveRecord),
            "Sequel" => Some(Mapper::Sequel),
            _ => None,
        }
    }

    /// The method of the library for loading associations with the owners.
    fn method(self) -> &'static str {
        match self {
            Mapper::ActiveRecord => "includes",
            Mapper::Sequel => "eager",
        }
    }

    /// The option with the number of connections in the library's pool.
    pub(crate) fn pool_size(self) -> &'static str {
        match self {
            Mapper::ActiveRecord => "pool",
            Mapper::Sequel => "max_connections",
        }
    }
}

impl Association {
    /// The mapper's call for counting the associated rows of many owners with one statement.
    pub(crate) fn counting(&self) -> String {
        let column = &self.column;
        match (self.mapper, &self.through) {
            (Mapper::ActiveRecord, None) => format!("group(:{column}).count"),
            (Mapper::ActiveRecord, Some(table)) => format!("group(\"{table}.{column}\").count"),
            (Mapper::Sequel, None) => format!("group_and_count(:{column})"),
            (Mapper::Sequel, Some(table)) => {
                format!("group_and_count(Sequel[:{table}][:{column}])")
            }
        }
    }
}

/// The mapper of all associations; `None` without any, and with both mappers.
pub(crate) fn mapper(all: &[Association]) -> Option<Mapper> {
    let first = all.first()?.mapper;
    all.iter().all(|one| one.mapper == first).then_some(first)
}

/// All associations named by the app's processes.
pub(crate) fn of(recording: &Recording) -> Vec<Association> {
    let settings = recording.agents.iter().flat_map(|agent| &agent.settings);
    let named = settings.filter_map(|setting| read(&setting.name, &setting.value));
    let all: BTreeSet<Association> = named.collect();
    all.into_iter().collect()
}

fn read(name: &str, value: &str) -> Option<Association> {
    let (mapper, path) = name.strip_prefix(SETTING)?.split_once(' ')?;
    let (model, name) = path.rsplit_once('.')?;
    let words: Vec<&str> = value.split(' ').collect();
    let (from, to, column, through) = match words.as_slice() {
        [_, from, to, column] => (from, to, column, None),
        [_, from, to, column, through] => (from, to, column, Some((*through).to_owned())),
        _ => return None,
    };
    Some(Association {
        mapper: Mapper::named(mapper)?,
        model: model.to_owned(),
        name: name.to_owned(),
        from: (*from).to_owned(),
        to: (*to).to_owned(),
        column: (*column).to_owned(),
        through,
    })
}

/// The association whose rows a statement fetches from the first of `tables`, joined with the
/// others, where `column` is compared. `from` are the tables that the route reads besides: where
/// several models have such an association, only theirs counts. `None` where it is not sure which.
pub(crate) fn followed<'a>(
    all: &'a [Association],
    (tables, column): (&[String], &str),
    from: &BTreeSet<String>,
) -> Option<&'a Association> {
    let fits = all.iter().filter(|one| {
        tables.split_first().is_some_and(|(to, joined)| {
            one.to == *to && one.through.as_slice() == joined && one.column == column
        })
    });
    let fits: Vec<&Association> = fits.collect();
    if let [only] = fits.as_slice() {
        return Some(only);
    }
    let mut read = fits.into_iter().filter(|one| from.contains(&one.from));
    let first = read.next()?;
    read.next().is_none().then_some(first)
}

/// Returns the call for loading associations with the owners at once, such as
/// `Order.includes(:customer, line_items: :product)`. `None` without an association.
pub(crate) fn together(followed: &[&Association]) -> Option<String> {
    let mut by_owner: BTreeMap<&str, BTreeSet<&Association>> = BTreeMap::new();
    for one in followed {
        by_owner.entry(&one.from).or_default().insert(one);
    }
    let targets: BTreeSet<&str> = followed.iter().map(|one| one.to.as_str()).collect();
    let roots: Vec<&str> = by_owner
        .keys()
        .copied()
        .filter(|owner| !targets.contains(owner))
        .collect();
    let loads = roots.into_iter().filter_map(|root| {
        let first = by_owner.get(root)?.iter().next()?;
        let listed = listed(&by_owner, root, &mut BTreeSet::new());
        Some(format!(
            "{}.{}({listed})",
            first.model,
            first.mapper.method()
        ))
    });
    let loads: Vec<String> = loads.collect();
    (!loads.is_empty()).then(|| loads.join(", "))
}

/// The associations of a table as the arguments of `includes`: nested ones come last, as a hash.
fn listed<'a>(
    by_owner: &BTreeMap<&'a str, BTreeSet<&'a Association>>,
    owner: &'a str,
    above: &mut BTreeSet<&'a str>,
) -> String {
    above.insert(owner);
    let (mut plain, mut leading) = (Vec::new(), Vec::new());
    for one in by_owner.get(owner).into_iter().flatten() {
        let leads = by_owner.contains_key(one.to.as_str()) && !above.contains(one.to.as_str());
        if !leads {
            plain.push(format!(":{}", one.name));
            continue;
        }
        let below = listed(by_owner, &one.to, above);
        leading.push(match below.contains([',', ' ']) {
            false => format!("{}: {below}", one.name),
            true if below.starts_with(':') && !below.contains(": ") => {
                format!("{}: [{below}]", one.name)
            }
            true if below.starts_with(':') => format!("{}: [{}]", one.name, braced_tail(&below)),
            true => format!("{}: {{ {below} }}", one.name),
        });
    }
    above.remove(owner);
    plain.extend(leading);
    plain.join(", ")
}

/// Names, then a hash in braces, as an array takes both.
fn braced_tail(listed: &str) -> String {
    let words: Vec<&str> = listed.split(", ").collect();
    let names = words
        .iter()
        .take_while(|word| word.starts_with(':'))
        .count();
    let (names, hash) = words.split_at(names);
    format!("{}, {{ {} }}", names.join(", "), hash.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> Vec<Association> {
        let lines = [
            ("Order.customer", "one orders customers id"),
            ("Order.line_items", "many orders line_items order_id"),
            ("LineItem.product", "one line_items products id"),
            ("Review.product", "one reviews products id"),
            ("Product.maker", "one products makers id"),
            ("Product.tags", "many products tags product_id"),
        ];
        let read = |(name, value)| read(&format!("association ActiveRecord {name}"), value);
        lines.into_iter().filter_map(read).collect()
    }

    fn check(statements: &[(&str, &str)], also_read: &[&str], expected: Option<&str>) {
        let all = shop();
        let from = also_read.iter().map(|table| (*table).to_owned()).collect();
        let followed: Vec<&Association> = statements
            .iter()
            .filter_map(|(table, column)| followed(&all, (&[(*table).to_owned()], column), &from))
            .collect();
        assert_eq!(together(&followed).as_deref(), expected);
    }

    #[test]
    fn associations_are_loaded_together() {
        let customer = ("customers", "id");
        let items = ("line_items", "order_id");
        let product = ("products", "id");
        check(&[customer], &[], Some("Order.includes(:customer)"));
        check(
            &[customer, items, product],
            &["orders", "line_items"],
            Some("Order.includes(:customer, line_items: :product)"),
        );
        check(
            &[items, product, ("makers", "id"), ("tags", "product_id")],
            &["line_items"],
            Some("Order.includes(line_items: { product: [:maker, :tags] })"),
        );
        check(
            &[items, product, ("makers", "id"), customer],
            &["line_items"],
            Some("Order.includes(:customer, line_items: { product: :maker })"),
        );
    }

    #[test]
    fn what_is_not_sure_is_not_named() {
        let product = ("products", "id");
        check(&[product], &[], None);
        check(&[product], &["reviews", "line_items"], None);
        check(&[product], &["reviews"], Some("Review.includes(:product)"));
        check(&[("customers", "email")], &[], None);
        check(&[], &[], None);
    }

    #[test]
    fn other_settings_are_none() {
        assert_eq!(read("RACK_ENV", "production"), None);
        assert_eq!(read("association Other A.b", "one a b id"), None);
        assert_eq!(read("association Sequel A.b", "one a b"), None);
        assert_eq!(read("association Sequel A.b", "many a b id c d"), None);
        let sequel = read("association Sequel A.b", "one as bs id").map(|one| {
            let of = [&one];
            together(&of)
        });
        assert_eq!(sequel.flatten().as_deref(), Some("A.eager(:b)"));
    }

    #[test]
    fn rows_of_many_owners_are_counted_in_the_mappers_words() {
        let check = |mapper: &str, value: &str, expected: &str| {
            let one = read(&format!("association {mapper} Order.x"), value);
            assert_eq!(one.expect("an association").counting(), expected);
        };
        let notes = "many orders notes order_id";
        let tags = "many orders tags order_id orders_tags";
        check("ActiveRecord", notes, "group(:order_id).count");
        check(
            "ActiveRecord",
            tags,
            r#"group("orders_tags.order_id").count"#,
        );
        check("Sequel", notes, "group_and_count(:order_id)");
        check(
            "Sequel",
            tags,
            "group_and_count(Sequel[:orders_tags][:order_id])",
        );
    }
}
