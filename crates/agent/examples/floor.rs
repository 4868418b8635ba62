//! The least work of any agent recording a request's balance, as a floor for the cost of the real
//! one.
//!
//! A native method in front of Puma's, the request's number from the env, the clock when the
//! handler starts, when it ends, and at each event of the GVL in between, and a record of 128 bytes
//! into memory of the thread. Nobody reads what it writes, it notices no exception, and it is
//! neither careful nor complete: `cargo xtask bench agent` loads it into the same app as the agent,
//! and in two halves.
#![expect(unsafe_code, reason = "talks to the Ruby VM through its C interface")]

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_long, c_void};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

type Value = usize;
type Hook = extern "C" fn(u32, *const Value, *mut c_void);

const READY: u32 = 1 << 1;
const RESUMED: u32 = 1 << 2;
const SUSPENDED: u32 = 1 << 3;

const RECORD_BYTES: usize = 128;
/// Bytes of memory per thread, as large as a ring of the agent.
const MEMORY_BYTES: usize = 512 << 10;
const NIL_ON_3_3: Value = 4;
/// In `ready_at` while no request is handled.
const NOT_ASKED: u64 = u64::MAX;

struct Vm {
    call_super: extern "C-unwind" fn(c_int, *const Value) -> Value,
    hash_lookup: extern "C" fn(Value, Value) -> Value,
    string_pointer: extern "C" fn(*mut Value) -> *const c_char,
    thread_current: extern "C" fn() -> Value,
    specific_get: extern "C" fn(Value, c_int) -> *mut c_void,
    specific_set: extern "C" fn(Value, c_int, *mut c_void),
    storage: c_int,
    number: Value,
}

static VM: OnceLock<Vm> = OnceLock::new();

struct State {
    active: bool,
    start: u64,
    last: u64,
    parts: [u64; 10],
    ready_at: &'static AtomicU64,
    memory: Vec<u8>,
    at: usize,
}

thread_local! {
    static STATE: UnsafeCell<Option<Box<State>>> = const { UnsafeCell::new(None) };
}

/// Returns the calling thread's state; a reference is never held across a call into Ruby.
fn state<'a>() -> &'a mut Option<Box<State>> {
    // SAFETY: of this thread alone, and it lives as long as the thread.
    STATE.with(|state| unsafe { &mut *state.get() })
}

/// Defines `HakaruFloor::Call#call` and `HakaruFloor.watch`.
#[unsafe(no_mangle)]
pub extern "C" fn Init_libfloor() {
    let define_module: extern "C" fn(*const c_char) -> Value = symbol(c"rb_define_module");
    let define_under: extern "C" fn(Value, *const c_char) -> Value =
        symbol(c"rb_define_module_under");
    let define_method: extern "C" fn(Value, *const c_char, *const c_void, c_int) =
        symbol(c"rb_define_method");
    let define_singleton: extern "C" fn(Value, *const c_char, *const c_void, c_int) =
        symbol(c"rb_define_singleton_method");
    let new_string: extern "C" fn(*const c_char, c_long) -> Value = symbol(c"rb_utf8_str_new");
    let keep: extern "C" fn(Value) = symbol(c"rb_gc_register_mark_object");
    let new_storage: extern "C" fn() -> c_int = symbol(c"rb_internal_thread_specific_key_create");
    let number = new_string(c"HTTP_HAKARU_REQUEST".as_ptr(), 19);
    keep(number);
    VM.get_or_init(|| Vm {
        call_super: symbol(c"rb_call_super"),
        hash_lookup: symbol(c"rb_hash_lookup"),
        string_pointer: symbol(c"rb_string_value_ptr"),
        thread_current: symbol(c"rb_thread_current"),
        specific_get: symbol(c"rb_internal_thread_specific_get"),
        specific_set: symbol(c"rb_internal_thread_specific_set"),
        storage: new_storage(),
        number,
    });
    let floor = define_module(c"HakaruFloor".as_ptr());
    let front = define_under(floor, c"Call".as_ptr());
    define_method(front, c"call".as_ptr(), call as *const c_void, 1);
    define_singleton(floor, c"watch".as_ptr(), watch as *const c_void, 0);
}

/// Returns the VM's function called `name`.
fn symbol<T: Copy>(name: &std::ffi::CStr) -> T {
    const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
    // SAFETY: `name` is NUL-terminated.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(
        !address.is_null(),
        "the VM has no {name:?}: Ruby 3.3 or later is needed"
    );
    // SAFETY: a function pointer of the type that the caller names for this function.
    unsafe { std::mem::transmute_copy(&address) }
}

/// `HakaruFloor.watch`: from now on events of the GVL are recorded.
extern "C" fn watch(_this: Value) -> Value {
    let add: extern "C" fn(Hook, u32, *mut c_void) -> *mut c_void =
        symbol(c"rb_internal_thread_add_event_hook");
    add(on_thread, READY | RESUMED | SUSPENDED, std::ptr::null_mut());
    NIL_ON_3_3
}

extern "C-unwind" fn call(_this: Value, env: Value) -> Value {
    let Some(vm) = VM.get() else { return env };
    begin(vm);
    let id = number((vm.hash_lookup)(env, vm.number));
    let response = (vm.call_super)(1, &raw const env);
    end(id);
    response
}

fn begin(vm: &Vm) {
    let state = state().get_or_insert_with(|| {
        let ready_at: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(NOT_ASKED)));
        let place: *const AtomicU64 = ready_at;
        (vm.specific_set)((vm.thread_current)(), vm.storage, place.cast_mut().cast());
        Box::new(State {
            active: false,
            start: 0,
            last: 0,
            parts: [0; 10],
            ready_at,
            memory: vec![1; MEMORY_BYTES],
            at: 0,
        })
    });
    let now = now();
    state.start = now;
    state.last = now;
    state.parts = [0; 10];
    state.ready_at.store(0, Relaxed);
    state.active = true;
}

fn end(id: u64) {
    let Some(state) = state() else { return };
    let now = now();
    state.active = false;
    state.ready_at.store(NOT_ASKED, Relaxed);
    state.parts[0] += now - state.last;
    let to = &mut state.memory[state.at..state.at + RECORD_BYTES];
    let words = [id, state.start, now].into_iter().chain(state.parts);
    for (place, word) in to.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    state.at = (state.at + RECORD_BYTES) % MEMORY_BYTES;
}

extern "C" fn on_thread(event: u32, data: *const Value, _user: *mut c_void) {
    let Some(vm) = VM.get() else { return };
    if event == READY {
        // SAFETY: since 3.3 the event names the thread; what is stored there is never freed.
        let ready_at = unsafe {
            let place = (vm.specific_get)(*data, vm.storage);
            place.cast::<AtomicU64>().as_ref()
        };
        if let Some(ready_at) = ready_at.filter(|at| at.load(Relaxed) == 0) {
            ready_at.store(now(), Relaxed);
        }
        return;
    }
    let Some(state) = state().as_mut().filter(|state| state.active) else {
        return;
    };
    let now = now();
    if event == SUSPENDED {
        state.parts[0] += now - state.last;
        state.last = now;
    } else {
        let ready = state.ready_at.swap(0, Relaxed).clamp(state.last, now);
        state.parts[1] += ready - state.last;
        state.parts[2] += now - ready;
        state.last = now;
    }
}

/// The header's hexadecimal digits.
fn number(header: Value) -> u64 {
    let Some(vm) = VM.get().filter(|_| header != NIL_ON_3_3) else {
        return 0;
    };
    let mut header = header;
    let text = (vm.string_pointer)(&raw mut header);
    // SAFETY: a string of the env ends with a NUL.
    let digits = unsafe { std::ffi::CStr::from_ptr(text) }.to_bytes();
    digits.iter().fold(0, |id, digit| {
        id << 4 | u64::from((*digit as char).to_digit(16).unwrap_or(0))
    })
}

fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place to write.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
