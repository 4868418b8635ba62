//! Layout of the long lists of a chunk: column after column.

use std::collections::HashMap;

use super::wire::{Reader, Wire, Writer};
use super::{Chunk, FormatError};
use crate::{
    Act, ActKind, Burst, BurstKind, CpuSample, Exchange, Handled, Nanos, Outcome, Parts, RequestId,
    SqlUse, TextId, Timestamp,
};

/// The names in a chunk: rows hold small numbers instead of hashes.
#[derive(Default)]
struct Names {
    list: Vec<TextId>,
    numbers: HashMap<TextId, u64>,
}

pub(super) fn put_chunk(writer: &mut Writer, chunk: &Chunk) {
    let names = Names::of(chunk);
    names.list.put(writer);
    chunk.texts.put(writer);
    chunk.host.put(writer);
    put_exchanges(writer, &chunk.exchanges, &names);
    put_handled(writer, &chunk.handled, &names);
    let uses = || chunk.handled.iter().flat_map(|handled| &handled.sql);
    put_sql(writer, uses, &names);
    let bursts = || chunk.handled.iter().flat_map(|handled| &handled.bursts);
    writer.column(bursts().map(|burst| burst.kind as u64));
    writer.column(bursts().map(|burst| burst.length.0));
    chunk.runtime.put(writer);
    put_acts(writer, &chunk.handled, &names);
}

pub(super) fn get_chunk(reader: &mut Reader<'_>) -> Result<Chunk, FormatError> {
    let names = Names {
        list: Wire::get(reader)?,
        numbers: HashMap::new(),
    };
    let texts = Wire::get(reader)?;
    let host = Wire::get(reader)?;
    let exchanges = get_exchanges(reader, &names)?;
    let (mut handled, lists) = get_handled(reader, &names)?;
    let mut uses = get_sql(reader, total(lists.iter().map(|list| list.uses)), &names)?.into_iter();
    let mut bursts = get_bursts(reader, total(lists.iter().map(|list| list.bursts)))?.into_iter();
    for (row, list) in handled.iter_mut().zip(&lists) {
        row.sql = uses.by_ref().take(list.uses).collect();
        row.bursts = bursts.by_ref().take(list.bursts).collect();
    }
    let mut runtime = Vec::new();
    if reader.version >= 3 {
        runtime = Wire::get(reader)?;
        get_acts(reader, &mut handled, &names)?;
    }
    Ok(Chunk {
        exchanges,
        handled,
        texts,
        host,
        runtime,
    })
}

impl Names {
    fn of(chunk: &Chunk) -> Names {
        let mut names = Names::default();
        chunk.exchanges.iter().for_each(|row| names.keep(row.line));
        for row in &chunk.handled {
            names.keep(row.route);
            for used in &row.sql {
                names.keep(used.digest);
                names.keep(used.site);
            }
            for act in &row.acts {
                names.keep(act.what);
                names.keep(act.site);
            }
        }
        names
    }

    fn keep(&mut self, id: TextId) {
        self.numbers.entry(id).or_insert_with(|| {
            self.list.push(id);
            self.list.len() as u64 - 1
        });
    }

    fn number(&self, id: TextId) -> u64 {
        self.numbers[&id]
    }

    fn name(&self, number: u64) -> Result<TextId, FormatError> {
        usize::try_from(number)
            .ok()
            .and_then(|index| self.list.get(index))
            .copied()
            .ok_or(FormatError::Damaged("unknown name"))
    }

    fn column(&self, reader: &mut Reader<'_>, count: usize) -> Result<Vec<TextId>, FormatError> {
        (0..count).map(|_| self.name(reader.number()?)).collect()
    }
}

fn put_exchanges(writer: &mut Writer, rows: &[Exchange], names: &Names) {
    writer.number(rows.len() as u64);
    writer.deltas(rows.iter().map(|row| row.id.0));
    writer.deltas(rows.iter().map(|row| row.due.monotonic_nanos()));
    writer.offsets(rows.iter().map(|row| between(row.due, row.sent)));
    writer.offsets(rows.iter().map(|row| between(row.sent, row.answered)));
    writer.column(rows.iter().map(|row| names.number(row.line)));
    writer.column(rows.iter().map(|row| u64::from(row.step)));
    writer.column(rows.iter().map(|row| u64::from(row.connection)));
    writer.column(rows.iter().map(|row| u64::from(row.status)));
    rows.iter().for_each(|row| row.outcome.put(writer));
    writer.column(rows.iter().map(|row| row.body_bytes));
}

fn get_exchanges(reader: &mut Reader<'_>, names: &Names) -> Result<Vec<Exchange>, FormatError> {
    let count = reader.count()?;
    let id = reader.deltas(count)?;
    let due = reader.deltas(count)?;
    let sent = reader.offsets(&due)?;
    let answered = reader.offsets(&sent)?;
    let line = names.column(reader, count)?;
    let step = reader.column_of(count)?;
    let connection = reader.column_of(count)?;
    let status = reader.column_of(count)?;
    let outcome = (0..count)
        .map(|_| Outcome::get(reader))
        .collect::<Result<Vec<_>, _>>()?;
    let body_bytes = reader.column(count)?;
    let row = |i: usize| Exchange {
        id: RequestId(id[i]),
        due: Timestamp::from_monotonic_nanos(due[i]),
        sent: Timestamp::from_monotonic_nanos(sent[i]),
        answered: Timestamp::from_monotonic_nanos(answered[i]),
        line: line[i],
        step: step[i],
        connection: connection[i],
        status: status[i],
        outcome: outcome[i],
        body_bytes: body_bytes[i],
    };
    Ok((0..count).map(row).collect())
}

/// Numbers of statements and bursts of each request, with separate columns for the items.
struct ListLengths {
    uses: usize,
    bursts: usize,
}

fn put_handled(writer: &mut Writer, rows: &[Handled], names: &Names) {
    writer.number(rows.len() as u64);
    writer.deltas(rows.iter().map(|row| row.id.0));
    writer.column(rows.iter().map(|row| u64::from(row.pid)));
    writer.column(rows.iter().map(|row| u64::from(row.tid)));
    writer.deltas(rows.iter().map(|row| row.start.monotonic_nanos()));
    writer.offsets(rows.iter().map(|row| between(row.start, row.end)));
    rows.iter().for_each(|row| row.ready.is_some().put(writer));
    writer.offsets(
        rows.iter()
            .filter_map(|row| Some(between(row.start, row.ready?))),
    );
    writer.column(rows.iter().map(|row| names.number(row.route)));
    writer.column(rows.iter().map(|row| u64::from(row.status)));
    for part in 0..PARTS {
        writer.column(rows.iter().map(|row| parts_as_array(&row.parts)[part]));
    }
    rows.iter().for_each(|row| row.cpu.is_some().put(writer));
    let sampled = || rows.iter().filter_map(|row| row.cpu);
    writer.column(sampled().map(|cpu| cpu.running_wall.0));
    writer.column(sampled().map(|cpu| cpu.running_cpu.0));
    writer.column(sampled().map(|cpu| cpu.total_cpu.0));
    rows.iter()
        .for_each(|row| row.allocations.is_some().put(writer));
    writer.column(rows.iter().filter_map(|row| row.allocations));
    writer.column(rows.iter().map(|row| u64::from(row.statements)));
    writer.column(rows.iter().map(|row| row.sql.len() as u64));
    writer.column(rows.iter().map(|row| row.bursts.len() as u64));
}

type HandledRows = (Vec<Handled>, Vec<ListLengths>);

fn get_handled(reader: &mut Reader<'_>, names: &Names) -> Result<HandledRows, FormatError> {
    let count = reader.count()?;
    let id = reader.deltas(count)?;
    let pid = reader.column_of(count)?;
    let tid = reader.column_of(count)?;
    let start = reader.deltas(count)?;
    let end = reader.offsets(&start)?;
    let ready = get_ready(reader, &start)?;
    let route = names.column(reader, count)?;
    let status = reader.column_of(count)?;
    let parts = (0..PARTS)
        .map(|_| reader.column(count))
        .collect::<Result<Vec<_>, _>>()?;
    let cpu = get_cpu(reader, count)?;
    let allocations = get_optional(reader, count)?;
    let statements = reader.column_of(count)?;
    let uses = reader.column_of(count)?;
    let bursts = reader.column_of(count)?;
    let row = |i: usize| Handled {
        id: RequestId(id[i]),
        pid: pid[i],
        tid: tid[i],
        ready: ready[i],
        start: Timestamp::from_monotonic_nanos(start[i]),
        end: Timestamp::from_monotonic_nanos(end[i]),
        route: route[i],
        status: status[i],
        parts: Parts::from_nanos(std::array::from_fn(|part| parts[part][i])),
        cpu: cpu[i],
        allocations: allocations[i],
        statements: statements[i],
        ..Handled::default()
    };
    let lengths = |i: usize| ListLengths {
        uses: uses[i],
        bursts: bursts[i],
    };
    Ok((
        (0..count).map(row).collect(),
        (0..count).map(lengths).collect(),
    ))
}

fn get_ready(
    reader: &mut Reader<'_>,
    start: &[u64],
) -> Result<Vec<Option<Timestamp>>, FormatError> {
    let known = get_flags(reader, start.len())?;
    let mut ready = Vec::with_capacity(start.len());
    for (base, known) in start.iter().zip(known) {
        ready.push(match known {
            true => Some(Timestamp::from_monotonic_nanos(
                base.wrapping_add(reader.signed()? as u64),
            )),
            false => None,
        });
    }
    Ok(ready)
}

fn get_cpu(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Option<CpuSample>>, FormatError> {
    let known = get_flags(reader, count)?;
    let sampled = known.iter().filter(|known| **known).count();
    let running_wall = reader.column(sampled)?;
    let running_cpu = reader.column(sampled)?;
    let total_cpu = reader.column(sampled)?;
    let mut samples = (0..sampled).map(|i| CpuSample {
        running_wall: Nanos(running_wall[i]),
        running_cpu: Nanos(running_cpu[i]),
        total_cpu: Nanos(total_cpu[i]),
    });
    Ok(known
        .into_iter()
        .map(|known| known.then(|| samples.next()).flatten())
        .collect())
}

fn get_optional(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Option<u64>>, FormatError> {
    let known = get_flags(reader, count)?;
    let mut values = Vec::with_capacity(count);
    for known in known {
        values.push(match known {
            true => Some(reader.number()?),
            false => None,
        });
    }
    Ok(values)
}

fn get_flags(reader: &mut Reader<'_>, count: usize) -> Result<Vec<bool>, FormatError> {
    (0..count).map(|_| bool::get(reader)).collect()
}

fn put_sql<'a, I>(writer: &mut Writer, uses: impl Fn() -> I, names: &Names)
where
    I: Iterator<Item = &'a SqlUse>,
{
    writer.column(uses().map(|used| names.number(used.digest)));
    writer.column(uses().map(|used| names.number(used.site)));
    writer.column(uses().map(|used| u64::from(used.count)));
    writer.column(uses().map(|used| used.rows));
    writer.column(uses().map(|used| used.time.0));
    writer.column(uses().map(|used| used.gvl_wait.0));
}

fn get_sql(
    reader: &mut Reader<'_>,
    count: usize,
    names: &Names,
) -> Result<Vec<SqlUse>, FormatError> {
    let digest = names.column(reader, count)?;
    let site = names.column(reader, count)?;
    let times = reader.column_of(count)?;
    let rows = reader.column(count)?;
    let time = reader.column(count)?;
    let gvl_wait = reader.column(count)?;
    let row = |i: usize| SqlUse {
        digest: digest[i],
        site: site[i],
        count: times[i],
        rows: rows[i],
        time: Nanos(time[i]),
        gvl_wait: Nanos(gvl_wait[i]),
    };
    Ok((0..count).map(row).collect())
}

fn get_bursts(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Burst>, FormatError> {
    let kinds = (0..count)
        .map(|_| burst_kind(reader.number()?))
        .collect::<Result<Vec<_>, _>>()?;
    let lengths = reader.column(count)?;
    Ok(kinds
        .into_iter()
        .zip(lengths)
        .map(|(kind, length)| Burst {
            kind,
            length: Nanos(length),
        })
        .collect())
}

fn burst_kind(number: u64) -> Result<BurstKind, FormatError> {
    BurstKind::ALL
        .into_iter()
        .find(|kind| *kind as u64 == number)
        .ok_or(FormatError::Damaged("unknown BurstKind"))
}

fn put_acts(writer: &mut Writer, rows: &[Handled], names: &Names) {
    writer.column(rows.iter().map(|row| row.acts.len() as u64));
    let acts = || rows.iter().flat_map(|row| &row.acts);
    acts().for_each(|act| act.kind.put(writer));
    writer.column(acts().map(|act| names.number(act.what)));
    writer.column(acts().map(|act| names.number(act.site)));
    writer.column(acts().map(|act| u64::from(act.count)));
    writer.column(acts().map(|act| act.time.0));
}

fn get_acts(
    reader: &mut Reader<'_>,
    rows: &mut [Handled],
    names: &Names,
) -> Result<(), FormatError> {
    let lengths: Vec<usize> = reader.column_of(rows.len())?;
    let count = total(lengths.iter().copied());
    let kind = (0..count)
        .map(|_| ActKind::get(reader))
        .collect::<Result<Vec<_>, _>>()?;
    let what = names.column(reader, count)?;
    let site = names.column(reader, count)?;
    let times = reader.column_of(count)?;
    let time = reader.column(count)?;
    let mut acts = (0..count).map(|i| Act {
        kind: kind[i],
        what: what[i],
        site: site[i],
        count: times[i],
        time: Nanos(time[i]),
    });
    for (row, length) in rows.iter_mut().zip(lengths) {
        row.acts = acts.by_ref().take(length).collect();
    }
    Ok(())
}

/// Adds up lengths. Damaged ones may add up to anything; reading that many rows then fails at the
/// end of the piece.
fn total(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.fold(0, usize::saturating_add)
}

const PARTS: usize = 10;

fn parts_as_array(parts: &Parts) -> [u64; PARTS] {
    [
        parts.gvl_wait.0,
        parts.gc.0,
        parts.sql_running.0,
        parts.sql_waiting.0,
        parts.http_running.0,
        parts.http_waiting.0,
        parts.lock.0,
        parts.sleep.0,
        parts.other_io.0,
        parts.running.0,
    ]
}

fn between(base: Timestamp, value: Timestamp) -> (u64, u64) {
    (base.monotonic_nanos(), value.monotonic_nanos())
}
