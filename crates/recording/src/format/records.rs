//! Layout of the facts of a summary, and of the rarer ones of a chunk: field after field.
//!
//! The order of the fields here is the format. To change it, raise `VERSION`, keep a fixture of the
//! old one, and teach the reader both: new fields go to the end, behind the version that brought
//! them.

use super::wire::{Reader, Wire, Writer};
use super::{FormatError, Summary};
use crate::{
    Access, ActKind, AgentProcess, AnswerFacts, AskedAgain, ColumnFacts, Counter, DatabaseFacts,
    DiskBytes, ExplainedStatement, Failure, Generator, HostSample, IndexColumns, JitSample,
    LoadFacts, LoadMode, Meta, Nanos, NetworkBytes, Outcome, PlanStep, ProcessRole, ProcessSample,
    RuntimeSample, Sameness, Score, ScoreLine, Setting, StatementFacts, TargetFacts, TextId,
    Timestamp, Trouble, Typed, Window,
};

/// Writes and reads a struct field by field in the order given. Fields behind `since` are in pieces
/// of that version and later; in older ones they have their default.
macro_rules! wire_record {
    ($type:ident { $($field:ident),* $(,)? } $(since $version:literal { $($new:ident),* $(,)? })*) => {
        impl Wire for $type {
            fn put(&self, writer: &mut Writer) {
                $(self.$field.put(writer);)*
                $($(self.$new.put(writer);)*)*
            }
            fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
                Ok($type {
                    $($field: Wire::get(reader)?,)*
                    $($($new: if reader.version >= $version {
                        Wire::get(reader)?
                    } else {
                        Default::default()
                    },)*)*
                })
            }
        }
    };
}

/// Writes and reads an enum without fields by the numbers given.
macro_rules! wire_enum {
    ($type:ident { $($number:literal => $variant:ident),* $(,)? }) => {
        impl Wire for $type {
            fn put(&self, writer: &mut Writer) {
                writer.number(match self { $($type::$variant => $number),* });
            }
            fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
                match reader.number()? {
                    $($number => Ok($type::$variant),)*
                    _ => Err(FormatError::Damaged(concat!("unknown ", stringify!($type)))),
                }
            }
        }
    };
}

wire_record!(Summary {
    meta,
    window,
    agents,
    generator,
    explained,
    failures,
    score,
    troubles
} since 2 {
    answers,
    database
} since 8 {
    machine
});
wire_record!(AnswerFacts {
    line,
    status,
    seen,
    content_type,
    content_encoding,
    cache_control,
    with_cache_control,
    with_etag,
    with_last_modified,
    with_set_cookie,
    closed,
    offered_compression,
    with_credentials,
    repeated,
    repeated_equal,
} since 9 { asked_again });
wire_record!(AskedAgain {
    visitors,
    sessions,
    apart,
    sameness,
});
wire_enum!(Sameness {
    1 => Same,
    2 => Authorization,
    3 => Refused,
    4 => SetsCookie,
    5 => Varies,
    6 => Private,
    7 => BodiesDiffer,
    8 => BodiesChange,
    9 => HeadersDiffer,
    10 => NotAsInLoad,
});
wire_record!(DatabaseFacts {
    start,
    end,
    settings,
    counters,
    statements,
    columns,
    notes,
});
wire_record!(Setting { name, value });
wire_record!(Counter {
    name,
    before,
    after
});
wire_record!(StatementFacts {
    digest,
    count,
    time_ns,
    rows_examined,
    rows_sent,
    rows_sorted,
    tmp_tables,
    tmp_tables_on_disk,
    pages,
});
wire_record!(ColumnFacts {
    table,
    column,
    binary,
    bytes_mean,
});
wire_record!(Meta {
    started_at_unix_ms,
    target,
    load,
    cores,
    same_host,
    ended_early
} since 6 { typed });
wire_record!(Typed {
    config,
    url,
    flows,
    command
});
wire_record!(TargetFacts {
    command,
    url,
    ruby,
    server,
    workers,
    threads,
    database,
    database_pool,
});
wire_record!(LoadFacts {
    mode,
    connections,
    rate,
    duration,
    warmup,
    flows
});
wire_record!(Window { start, end });
wire_record!(AgentProcess {
    pid,
    ruby,
    server,
    gvl,
    requests,
    dropped,
    cost,
    troubles
} since 3 { settings });
wire_record!(RuntimeSample {
    at,
    pid,
    gc_count,
    gc_major,
    gc_time,
    gc_cause,
    heap_live,
    jit
} since 4 {
    threads_busy,
    backlog
});
wire_record!(JitSample {
    compiled,
    code_bytes,
    compile_time,
    invalidated
});
wire_record!(Generator {
    cpu,
    threads,
    unsent
});
wire_record!(ExplainedStatement { digest, steps });
wire_record!(PlanStep {
    table,
    access,
    rows,
    table_rows,
    sorts,
    indexes,
    columns
});
wire_record!(IndexColumns { name, columns });
wire_record!(Failure {
    outcome,
    line,
    place,
    reason,
    request,
    response,
    count
});
wire_record!(Score { points, lines });
wire_record!(ScoreLine {
    rule,
    count,
    points
});
wire_record!(Trouble { what, remedy });
wire_record!(HostSample {
    at,
    cpu_busy,
    cpu_steal,
    cpu_pressure,
    io_pressure,
    memory_available,
    processes,
} since 3 {
    memory_pressure,
    memory_limit,
    memory_used,
    network,
    disk,
    backlog,
} since 7 {
    core_pace,
});
wire_record!(NetworkBytes {
    received,
    sent,
    loopback
});
wire_record!(DiskBytes { read, written });
wire_record!(ProcessSample {
    pid,
    role,
    name,
    cpu,
    rss
} since 3 {
    pss,
    worker,
    threads,
    fds,
    fds_limit
} since 5 {
    address_space,
    address_space_limit
});

wire_enum!(ActKind {
    0 => Lock,
    1 => Sleep,
    2 => OtherIo,
    3 => Work,
    4 => Connect,
    5 => Prepare,
    6 => Close,
});
wire_enum!(LoadMode { 0 => Closed, 1 => Open });
wire_enum!(ProcessRole { 0 => App, 1 => Database, 2 => Generator, 3 => Store });
wire_enum!(Outcome {
    0 => Ok,
    1 => CheckFailed,
    2 => ServerError,
    3 => ConnectFailed,
    4 => Disconnected,
    5 => TimedOut,
    6 => BadAnswer,
    7 => Unanswered,
});

impl Wire for Access {
    fn put(&self, writer: &mut Writer) {
        match self {
            Access::FullScan => writer.number(0),
            Access::Index(name) => {
                writer.number(1);
                name.put(writer);
            }
            Access::PrimaryKey => writer.number(2),
            Access::Other => writer.number(3),
        }
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        match reader.number()? {
            0 => Ok(Access::FullScan),
            1 => Ok(Access::Index(Wire::get(reader)?)),
            2 => Ok(Access::PrimaryKey),
            3 => Ok(Access::Other),
            _ => Err(FormatError::Damaged("unknown Access")),
        }
    }
}

impl Wire for Nanos {
    fn put(&self, writer: &mut Writer) {
        writer.number(self.0);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        reader.number().map(Nanos)
    }
}

impl Wire for Timestamp {
    fn put(&self, writer: &mut Writer) {
        writer.number(self.monotonic_nanos());
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        reader.number().map(Timestamp::from_monotonic_nanos)
    }
}

/// A hash has no small values, so eight plain bytes.
impl Wire for TextId {
    fn put(&self, writer: &mut Writer) {
        writer.bytes.extend_from_slice(&self.0.to_le_bytes());
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let mut bytes = [0; 8];
        for byte in &mut bytes {
            *byte = reader.byte()?;
        }
        Ok(TextId(u64::from_le_bytes(bytes)))
    }
}
