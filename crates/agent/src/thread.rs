//! The state of one native thread: the timeline, the ring, and the texts sent so far.

mod acts;
mod texts;

use std::cell::Cell;
use std::hash::Hasher;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use ring::{ActRecord, Place, Record, RequestView, SqlRecord, TextKind, TroubleKind, Writer};

use crate::api::{Api, Value, api};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::site::SiteCache;
use crate::timeline::{Costly, Part, Span, Timeline};
use crate::{process, reader};
use acts::Works;
pub(crate) use acts::{ActKind, WAIT_TOLD_NS, WorkEntry};
use texts::TextSet;

/// Most distinct statements recorded in one request; further ones are only counted.
const SQL_MAX: usize = 32;

/// Most bytes of a sample of SQL: longer ones are not sent, as a cut one cannot be explained.
const SAMPLE_BYTES_MAX: usize = 16 << 10;

/// Requests whose bursts are sent: the first so many of a thread, then one in `BURSTS_EVERY`.
const BURSTS_FIRST: u64 = 200;
const BURSTS_EVERY: u64 = 8;

/// Thread CPU is read on one request in 16: a reading costs 0.4 to 0.5 µs.
const SAMPLE_MASK: u64 = 15;

/// State of one native thread, touched by the thread alone. In this order: each cache line of it
/// that a request needs is a miss, since the app has had the caches in between.
#[repr(C)]
pub(crate) struct ThreadState {
    generation: u32,
    /// Number of the reader of the ring.
    epoch: u32,
    pub(crate) active: bool,
    /// Whether the Ruby has GVL events.
    gvl: bool,
    ruby_thread: Value,
    requests: u64,
    random: u64,
    told: Told,
    pub(crate) timeline: Timeline,
    ring: Option<Writer>,
    call: Call,
    works: Works,
    pub(crate) sites: SiteCache,
    scratch: Vec<u8>,
    texts: TextSet,
}

/// Recorded facts of a request beside the timeline.
#[repr(C)]
struct Told {
    id: u64,
    ready: u64,
    statements: u32,
    sql: Vec<SqlRecord>,
    acts: Vec<ActRecord>,
}

/// A thread's state, with the one field touched by other threads.
#[repr(C, align(64))]
struct Home {
    /// See `Timeline::ready_at`.
    ready_at: AtomicU64,
    state: MaybeUninit<ThreadState>,
}

/// Digest of a timed call other than a statement; no text has 0 as hash.
pub(crate) const NO_STATEMENT: u64 = 0;

/// The SQL or HTTP call the thread is in.
#[derive(Clone, Copy, Default)]
struct Call {
    digest: u64,
    site: u64,
    start: u64,
    gvl_wait: u64,
    span: Span,
    /// Kind and name of the activity recorded for the call beside the time.
    act: Option<(ActKind, u64)>,
}

/// The expensive readings, taken from the system.
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

/// States of ended threads, rings included, for the next threads: so the number of rings follows
/// the number of threads alive at once.
static IDLE: Mutex<Vec<StatePointer>> = Mutex::new(Vec::new());

struct StatePointer(*mut ThreadState);

// SAFETY: an idle state belongs to no thread; whoever takes it out of the list owns it.
unsafe impl Send for StatePointer {}

/// Returns the calling thread's state while a request is handled. For hooks: allocates nothing.
pub(crate) fn active<'a>() -> Option<&'a mut ThreadState> {
    let state = SLOT.try_with(|slot| slot.0.get()).ok()?;
    // SAFETY: the pointer is null or a leaked box that belongs to this thread; hooks and entries of
    // one thread never run inside each other while holding the reference.
    let state = unsafe { state.as_mut() }?;
    (state.active && state.generation == process::generation()).then_some(state)
}

/// The calling thread's state, made or taken over when needed.
pub(crate) fn current<'a>(api: &Api) -> Option<&'a mut ThreadState> {
    let mut pointer = SLOT.try_with(|slot| slot.0.get()).ok()?;
    if pointer.is_null() {
        pointer = move_in()?;
    }
    // SAFETY: as in `active`.
    let state = unsafe { pointer.as_mut() }?;
    if state.generation != process::generation() || state.epoch != reader::epoch() {
        state.begin_anew();
    }
    let ruby_thread = (api.rb_thread_current)();
    if state.ruby_thread != ruby_thread {
        state.belong_to(api, ruby_thread);
    }
    Some(state)
}

/// Gives up the calling thread's ring, whose reader has gone.
pub(crate) fn let_go() {
    let Ok(state) = SLOT.try_with(|slot| slot.0.get()) else {
        return;
    };
    // SAFETY: as in `active`.
    if let Some(state) = unsafe { state.as_mut() }
        && state.ring.is_some()
    {
        state.drop_ring();
    }
}

/// Gives the calling thread a state.
#[cold]
fn move_in() -> Option<*mut ThreadState> {
    let idle = IDLE.try_lock().ok().and_then(|mut idle| idle.pop());
    let state = idle.map_or_else(ThreadState::leaked, |idle| idle.0);
    SLOT.try_with(|slot| slot.0.set(state)).ok()?;
    Some(state)
}

impl Told {
    fn begin(&mut self, id: u64) {
        self.id = id;
        self.statements = 0;
        self.sql.clear();
        self.acts.clear();
    }
}

impl Call {
    fn forget(&mut self) {
        self.span = Span::None;
        self.act = None;
    }
}

impl ThreadState {
    /// Returns a new state, never freed: the VM keeps the address of `ready_at`.
    fn leaked() -> *mut ThreadState {
        let home: &'static mut Home = Box::leak(Box::new(Home {
            ready_at: AtomicU64::new(0),
            state: MaybeUninit::uninit(),
        }));
        let Home { ready_at, state } = home;
        state.write(ThreadState::new(ready_at))
    }

    fn new(ready_at: &'static AtomicU64) -> ThreadState {
        ThreadState {
            generation: u32::MAX,
            epoch: 0,
            active: false,
            gvl: process::settings().is_some_and(|settings| settings.gvl),
            ruby_thread: 0,
            requests: 0,
            random: monotonic_ns() | 1,
            told: Told {
                id: 0,
                ready: 0,
                statements: 0,
                sql: Vec::with_capacity(SQL_MAX),
                acts: Vec::with_capacity(acts::ACTS_MAX),
            },
            timeline: Timeline::new(ready_at),
            ring: None,
            call: Call::default(),
            works: Works::default(),
            sites: SiteCache::new(),
            scratch: Vec::with_capacity(4096),
            texts: TextSet::new(),
        }
    }

    /// Begins in a forked process or for another reader, with a ring in which nothing was reported
    /// yet.
    #[cold]
    fn begin_anew(&mut self) {
        self.drop_ring();
        self.generation = process::generation();
        self.epoch = reader::epoch();
        self.active = false;
        self.ruby_thread = 0;
        self.requests = 0;
        self.ring = open_ring();
        self.texts.clear();
        self.sites.forget();
    }

    /// Takes the ring away until the next request to be recorded.
    #[cold]
    fn drop_ring(&mut self) {
        let is_ours = self.generation == process::generation();
        // No reader has this number.
        self.epoch = 0;
        let Some(ring) = self.ring.take() else { return };
        if is_ours {
            ring.discard();
            process::give_ring_back();
        } else {
            // The parent's: closing it here would end it there.
            std::mem::forget(ring);
        }
    }

    /// Assigns the state to a Ruby thread.
    #[cold]
    fn belong_to(&mut self, api: &Api, ruby_thread: Value) {
        self.ruby_thread = ruby_thread;
        self.active = false;
        if let (Some(key), Some(set)) = (process::key(), api.rb_internal_thread_specific_set) {
            let ready_at: *const _ = self.timeline.ready_at();
            set(ruby_thread, key, ready_at.cast_mut().cast());
        }
    }

    /// A request begins.
    pub(crate) fn begin(&mut self, id: u64, ready: u64) {
        self.told.begin(id);
        self.call.forget();
        self.works.clear();
        // The agent's timing of itself sends empty requests, which must not use up the first ones.
        self.requests += u64::from(!process::is_dry());
        // Xorshift (Marsaglia 2003): a sample that cannot beat in time with the app.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let sampled = !self.gvl || self.random & SAMPLE_MASK == 0;
        let costly: Option<&dyn Costly> = if sampled { Some(&Live) } else { None };
        let now = monotonic_ns();
        self.timeline.begin(now, costly);
        // Without a stamp nobody handed it over: this thread has read it itself, just now.
        self.told.ready = if ready == 0 { now } else { ready };
        self.active = true;
    }

    /// Ends the request, writes a record to the ring and returns the end, monotonic nanoseconds.
    pub(crate) fn end(&mut self, status: u32, route: Option<&[u8]>) -> u64 {
        let now = monotonic_ns();
        self.active = false;
        let mut sample = self.timeline.end(now, &Live);
        if !self.gvl {
            sample = self.trust_only_cpu(sample);
        }
        let route = match route {
            Some(route) => self.tell(TextKind::Route, route),
            None => 0,
        };
        self.push_record(now, status, route, sample);
        now
    }

    /// Counts only CPU as running in a record without GVL events, where time outside calls may be a
    /// wait.
    #[cold]
    fn trust_only_cpu(&mut self, sample: Option<[u64; 4]>) -> Option<[u64; 4]> {
        self.timeline.bursts.clear();
        sample.map(|[_, running_cpu, total, allocated]| {
            self.timeline.parts[Part::Running as usize] = running_cpu;
            [running_cpu, running_cpu, total, allocated]
        })
    }

    fn push_record(&mut self, end: u64, status: u32, route: u64, sample: Option<[u64; 4]>) {
        let with_bursts =
            self.requests <= BURSTS_FIRST || (self.random >> 32).is_multiple_of(BURSTS_EVERY);
        let (told, timeline) = (&self.told, &self.timeline);
        let record = RequestView {
            id: told.id,
            ready: told.ready,
            start: timeline.start,
            end,
            route,
            status,
            statements: told.statements,
            parts: &timeline.parts,
            sample,
            sql: &told.sql,
            bursts: if with_bursts { &timeline.bursts } else { &[] },
            acts: &told.acts,
        };
        let Some(ring) = &mut self.ring else { return };
        // The agent's timing of itself leaves nothing behind but the time it takes.
        if process::is_dry() {
            record.encode(&mut self.scratch);
            return;
        }
        record.push(ring, &mut self.scratch);
        ring.count(1, timeline.events, u64::from(told.statements));
    }

    /// Begins a call; `digest` and `site` are hashes of texts already sent.
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

    /// Begins a call other than a statement: connecting, preparing, closing.
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
        self.told.statements += u32::from(call.span == Span::Sql);
        let uses = &mut self.told.sql;
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

    /// Records the digest of a statement once, with one sample of the statement.
    pub(crate) fn tell_sql(&mut self, sql: &[u8]) -> u64 {
        let id = sql_digest::digest_id(sql);
        if !self.texts.has(id) {
            let digest = sql_digest::digest(sql);
            let told = self.push_text(TextKind::Digest, id, digest.as_bytes());
            if told && sql.len() <= SAMPLE_BYTES_MAX {
                self.push_text(TextKind::Sample, id, sql);
            }
            self.texts.add_if(told, id);
        }
        id
    }

    /// Records a text once and returns the text's hash.
    #[inline(never)]
    pub(crate) fn tell(&mut self, kind: TextKind, text: &[u8]) -> u64 {
        let id = fnv1a(text);
        if !self.texts.has(id) {
            let told = self.push_text(kind, id, text);
            self.texts.add_if(told, id);
        }
        id
    }

    fn push_text(&mut self, kind: TextKind, id: u64, text: &[u8]) -> bool {
        let number = Record::encode_text(kind, id, text, &mut self.scratch);
        self.push_scratch(number)
    }

    /// Sends a record written by `encode`.
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
            process::give_ring_back();
            let folder = settings.folder.display();
            let sentence = format!("cannot make a ring in {folder}: {error}");
            process::complain(&TroubleKind::NoRing.line(&sentence));
        })
        .ok()
}

/// FNV-1a, 64 bits, never zero; the same as `recording::TextId::of`.
fn fnv1a(text: &[u8]) -> u64 {
    let mut hash = fnv::FnvHasher::default();
    hash.write(text);
    hash.finish().max(1)
}
