//! The state of one native thread: its timeline, its ring, and what it has told already.

mod acts;

use std::cell::Cell;
use std::hash::Hasher;
use std::ptr::null_mut;
use std::sync::Mutex;

use ring::{Place, Record, RequestRecord, SqlRecord, TextKind, Writer};

use crate::api::{Api, Value, api};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::process;
use crate::site::SiteCache;
use crate::timeline::{Costly, Span, Timeline};
use acts::Works;
pub(crate) use acts::{ActKind, WAIT_TOLD_NS, WorkEntry};

/// Statements told apart in one request; more are counted without being told apart.
const SQL_MAX: usize = 32;

/// Samples of SQL longer than that are not sent: a cut one cannot be explained.
const SAMPLE_BYTES_MAX: usize = 16 << 10;

/// Requests whose bursts are sent: the first so many of a thread, then one in `BURSTS_EVERY`.
const BURSTS_FIRST: u64 = 200;
const BURSTS_EVERY: u64 = 8;

/// Thread CPU is read on one request in 16: a reading costs 0.4 to 0.5 µs.
const SAMPLE_MASK: u64 = 15;

/// What belongs to one native thread. Touched by that thread alone, but for `Timeline::ready`.
pub(crate) struct ThreadState {
    generation: u32,
    ruby_thread: Value,
    pub(crate) timeline: Timeline,
    pub(crate) active: bool,
    pub(crate) sites: SiteCache,
    ring: Option<Writer>,
    record: RequestRecord,
    scratch: Vec<u8>,
    told: ToldSet,
    call: Call,
    works: Works,
    random: u64,
    requests: u64,
}

/// Digest of a call whose time counts, but which is no statement; no text has this hash.
pub(crate) const NO_STATEMENT: u64 = 0;

/// The SQL or HTTP call the thread is in.
#[derive(Clone, Copy, Default)]
struct Call {
    digest: u64,
    site: u64,
    start: u64,
    gvl_wait: u64,
    span: Span,
    /// Kind and name of an act that the call is beside its time.
    act: Option<(ActKind, u64)>,
}

/// The dear readings, taken from the system.
pub(crate) struct Live;

impl Costly for Live {
    fn thread_cpu_ns(&self) -> u64 {
        thread_cpu_ns()
    }

    fn allocated(&self) -> u64 {
        let key = ALLOCATED_KEY.load(std::sync::atomic::Ordering::Relaxed);
        match api() {
            Some(api) if key != 0 => (api.rb_gc_stat)(key) as u64,
            _ => 0,
        }
    }
}

/// The symbol `:total_allocated_objects`, which is never freed once made by `rb_intern`.
static ALLOCATED_KEY: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Looks up what [`Live`] needs.
pub(crate) fn prepare(api: &Api) {
    let symbol = (api.rb_id2sym)((api.rb_intern)(c"total_allocated_objects".as_ptr()));
    ALLOCATED_KEY.store(symbol, std::sync::atomic::Ordering::Relaxed);
}

/// Gives the state back when the native thread ends.
struct Slot(Cell<*mut ThreadState>);

impl Drop for Slot {
    fn drop(&mut self) {
        let state = self.0.replace(null_mut());
        if let (false, Ok(mut idle)) = (state.is_null(), IDLE.try_lock()) {
            idle.push(StatePointer(state));
        }
    }
}

thread_local! {
    static SLOT: Slot = const { Slot(Cell::new(null_mut())) };
}

/// States of ended threads, rings included, for the next threads: so the number of rings follows the
/// number of threads that live at once.
static IDLE: Mutex<Vec<StatePointer>> = Mutex::new(Vec::new());

struct StatePointer(*mut ThreadState);

// SAFETY: an idle state belongs to no thread; whoever takes it out of the list owns it.
unsafe impl Send for StatePointer {}

/// The calling thread's state if it is handling a request. For hooks: allocates nothing.
pub(crate) fn active<'a>() -> Option<&'a mut ThreadState> {
    let state = SLOT.try_with(|slot| slot.0.get()).ok()?;
    // SAFETY: the pointer is null or a leaked box that belongs to this thread; hooks and entries of one
    // thread never run inside each other while holding the reference.
    let state = unsafe { state.as_mut() }?;
    (state.active && state.generation == process::generation()).then_some(state)
}

/// The calling thread's state, made or taken over when needed.
pub(crate) fn current<'a>(api: &Api) -> Option<&'a mut ThreadState> {
    let pointer = SLOT
        .try_with(|slot| {
            if slot.0.get().is_null() {
                let idle = IDLE.try_lock().ok().and_then(|mut idle| idle.pop());
                let fresh = idle.map_or_else(|| Box::into_raw(ThreadState::boxed()), |idle| idle.0);
                slot.0.set(fresh);
            }
            slot.0.get()
        })
        .ok()?;
    // SAFETY: as in `active`.
    let state = unsafe { pointer.as_mut() }?;
    state.belong_to(api);
    Some(state)
}

impl ThreadState {
    fn boxed() -> Box<ThreadState> {
        Box::new(ThreadState {
            generation: u32::MAX,
            ruby_thread: 0,
            timeline: Timeline::new(),
            active: false,
            sites: SiteCache::new(),
            ring: None,
            record: RequestRecord {
                acts: Vec::with_capacity(acts::ACTS_MAX),
                ..RequestRecord::default()
            },
            scratch: Vec::with_capacity(4096),
            told: ToldSet::new(),
            call: Call::default(),
            works: Works::default(),
            random: monotonic_ns() | 1,
            requests: 0,
        })
    }

    /// Makes the state that of this process and this Ruby thread.
    fn belong_to(&mut self, api: &Api) {
        let generation = process::generation();
        if self.generation != generation {
            self.generation = generation;
            self.active = false;
            self.ruby_thread = 0;
            self.requests = 0;
            // The ring is the parent's: closing it here would end it there.
            std::mem::forget(self.ring.take());
            self.ring = open_ring();
            self.told.clear();
        }
        let ruby_thread = (api.rb_thread_current)();
        if self.ruby_thread != ruby_thread {
            self.ruby_thread = ruby_thread;
            self.active = false;
            if let (Some(key), Some(set)) = (process::key(), api.rb_internal_thread_specific_set) {
                let ready_at: *const _ = self.timeline.ready_at();
                set(ruby_thread, key, ready_at.cast_mut().cast());
            }
        }
    }

    /// A request begins.
    pub(crate) fn begin(&mut self, id: u64, ready: u64) {
        self.record.reset();
        self.record.id = id;
        self.record.ready = ready;
        self.call = Call::default();
        self.works.clear();
        // The agent's timing of itself sends empty requests, which must not use up the first ones.
        self.requests += u64::from(!process::is_dry());
        // Xorshift (Marsaglia 2003): a sample that cannot beat in time with the app.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let gvl = process::settings().is_some_and(|settings| settings.gvl);
        let sampled = !gvl || self.random & SAMPLE_MASK == 0;
        let costly: Option<&dyn Costly> = if sampled { Some(&Live) } else { None };
        let now = monotonic_ns();
        self.timeline.begin(now, costly);
        if ready == 0 {
            // Nobody handed it over: this thread has read it itself, just now.
            self.record.ready = now;
        }
        self.active = true;
    }

    /// The request ends; its record goes into the ring. Answers when.
    pub(crate) fn end(&mut self, status: u32, route: Option<&[u8]>) -> u64 {
        let now = monotonic_ns();
        self.active = false;
        self.record.sample = self.timeline.end(now, &Live);
        self.record.start = self.timeline.start;
        self.record.end = now;
        self.record.status = status;
        self.record.parts = self.timeline.parts;
        if !process::settings().is_some_and(|settings| settings.gvl) {
            self.trust_only_cpu();
        }
        if let Some(route) = route {
            self.record.route = self.tell(TextKind::Route, route);
        }
        let sent =
            self.requests <= BURSTS_FIRST || (self.random >> 32).is_multiple_of(BURSTS_EVERY);
        if sent {
            self.record.bursts.extend_from_slice(&self.timeline.bursts);
        }
        self.push_record();
        now
    }

    /// Without GVL events the time outside calls is not known to be running: only its CPU is.
    fn trust_only_cpu(&mut self) {
        const RUNNING: usize = 9;
        if let Some([_, running_cpu, ..]) = self.record.sample {
            self.record.parts[RUNNING] = running_cpu;
            self.record.sample = self
                .record
                .sample
                .map(|[_, cpu, total, allocated]| [cpu, cpu, total, allocated]);
        }
        self.timeline.bursts.clear();
    }

    fn push_record(&mut self) {
        let kind = self.record.encode(&mut self.scratch);
        if process::is_dry() {
            return;
        }
        if let Some(ring) = &mut self.ring {
            ring.push(kind, &self.scratch);
            ring.count(1, self.timeline.events, u64::from(self.record.statements));
        }
    }

    /// A call begins; `digest` and `site` are hashes of texts already told.
    pub(crate) fn begin_call(&mut self, span: Span, digest: u64, site: u64) {
        let now = monotonic_ns();
        self.timeline.set_span(span, now, &Live);
        self.call = Call {
            digest,
            site,
            start: now,
            gvl_wait: self.timeline.gvl_wait(),
            span,
            act: None,
        };
    }

    /// A call begins that is no statement: connecting, preparing, closing.
    pub(crate) fn begin_setup(&mut self, act: Option<(ActKind, &[u8])>, site: u64) {
        let act = act.map(|(kind, what)| (kind, self.tell(TextKind::Name, what)));
        self.begin_call(Span::Sql, NO_STATEMENT, site);
        self.call.act = act;
    }

    /// The call ends.
    pub(crate) fn end_call(&mut self, rows: u64) {
        let now = monotonic_ns();
        self.timeline.set_span(Span::None, now, &Live);
        let call = std::mem::take(&mut self.call);
        if let Some((kind, what)) = call.act {
            let waited = self.timeline.gvl_wait() - call.gvl_wait;
            let time = (now - call.start).saturating_sub(waited);
            self.add_act(kind, what, call.site, time);
        }
        if call.span == Span::None || call.digest == NO_STATEMENT {
            return;
        }
        self.record.statements += u32::from(call.span == Span::Sql);
        let uses = &mut self.record.sql;
        let place = uses
            .iter()
            .position(|sql| sql.digest == call.digest && sql.site == call.site);
        let sql = match place {
            Some(place) => &mut uses[place],
            None if uses.len() < SQL_MAX => {
                uses.push(SqlRecord {
                    digest: call.digest,
                    site: call.site,
                    ..SqlRecord::default()
                });
                let last = uses.len() - 1;
                &mut uses[last]
            }
            None => return,
        };
        sql.count += 1;
        sql.rows += rows;
        sql.time += now - call.start;
        sql.gvl_wait += self.timeline.gvl_wait() - call.gvl_wait;
    }

    /// Tells the digest of a statement once, with one sample of it.
    pub(crate) fn tell_sql(&mut self, sql: &[u8]) -> u64 {
        let id = sql_digest::digest_id(sql);
        if !self.told.has(id) {
            let digest = sql_digest::digest(sql);
            let told = self.push_text(TextKind::Digest, id, digest.as_bytes());
            if told && sql.len() <= SAMPLE_BYTES_MAX {
                self.push_text(TextKind::Sample, id, sql);
            }
            self.told.add_if(told, id);
        }
        id
    }

    /// Tells a text once and answers its hash.
    pub(crate) fn tell(&mut self, kind: TextKind, text: &[u8]) -> u64 {
        let id = fnv1a(text);
        if !self.told.has(id) {
            let told = self.push_text(kind, id, text);
            self.told.add_if(told, id);
        }
        id
    }

    fn push_text(&mut self, kind: TextKind, id: u64, text: &[u8]) -> bool {
        let number = Record::encode_text(kind, id, text, &mut self.scratch);
        self.push_scratch(number)
    }

    /// Sends a record that `encode` writes.
    pub(crate) fn send(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> u16) {
        let number = encode(&mut self.scratch);
        self.push_scratch(number);
    }

    fn push_scratch(&mut self, kind: u16) -> bool {
        match &mut self.ring {
            Some(ring) if !process::is_dry() => ring.push(kind, &self.scratch),
            _ => false,
        }
    }
}

fn open_ring() -> Option<Writer> {
    let settings = process::settings()?;
    let place = Place {
        folder: settings.folder.clone(),
        pid: std::process::id(),
        // SAFETY: takes nothing and cannot fail.
        tid: unsafe { libc::gettid() } as u32,
        number: process::next_ring()?,
        capacity_bytes: settings.ring_bytes,
    };
    Writer::create(&place)
        .inspect_err(|error| {
            let folder = settings.folder.display();
            process::complain(&format!("cannot make a ring in {folder}: {error}"));
        })
        .ok()
}

/// FNV-1a, 64 bits, never zero; the same as `recording::TextId::of`.
fn fnv1a(text: &[u8]) -> u64 {
    let mut hash = fnv::FnvHasher::default();
    hash.write(text);
    hash.finish().max(1)
}

/// Hashes of texts that this ring has carried. Emptied when three quarters full, which costs no more
/// than telling some texts again.
struct ToldSet {
    slots: Box<[u64; TOLD_SLOTS]>,
    count: usize,
}

const TOLD_SLOTS: usize = 1024;

impl ToldSet {
    fn new() -> ToldSet {
        ToldSet {
            slots: Box::new([0; TOLD_SLOTS]),
            count: 0,
        }
    }

    fn clear(&mut self) {
        self.slots.fill(0);
        self.count = 0;
    }

    /// Where `id` is, or where it would go.
    fn slot(&self, id: u64) -> usize {
        let mut slot = (id ^ id >> 32) as usize & (TOLD_SLOTS - 1);
        while self.slots[slot] != 0 && self.slots[slot] != id {
            slot = (slot + 1) & (TOLD_SLOTS - 1);
        }
        slot
    }

    fn has(&self, id: u64) -> bool {
        self.slots[self.slot(id)] == id
    }

    fn add_if(&mut self, told: bool, id: u64) {
        if !told {
            return;
        }
        if self.count >= TOLD_SLOTS / 4 * 3 {
            self.clear();
        }
        let slot = self.slot(id);
        self.slots[slot] = id;
        self.count += 1;
    }
}
