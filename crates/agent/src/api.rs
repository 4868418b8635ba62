//! The functions of the Ruby VM used by the agent, looked up by name.
//!
//! `VALUE` is passed as a plain word. Fixnums have one form in all versions; `nil` is asked for at
//! run time, because its bits differ between versions.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::sync::OnceLock;

/// A Ruby object reference or immediate.
pub(crate) type Value = usize;

/// Signature of `rb_internal_thread_add_event_hook`'s callback. On 3.2 the second argument is null.
pub(crate) type ThreadEventHook = extern "C" fn(u32, *const ThreadEvent, *mut c_void);

/// Signature of `rb_add_event_hook`'s callback for internal events.
pub(crate) type VmEventHook = extern "C" fn(u32, Value, Value, usize, Value);

/// A function called by the VM at the next safe point.
pub(crate) type Job = extern "C" fn(*mut c_void);

/// A function called by a TracePoint.
pub(crate) type TraceHook = extern "C" fn(Value, *mut c_void);

/// `rb_data_type_t`: how the collector treats an object wrapping the agent's memory.
#[repr(C)]
pub(crate) struct DataType {
    pub(crate) name: *const c_char,
    pub(crate) mark: Option<extern "C" fn(*mut c_void)>,
    pub(crate) free: *const c_void,
    pub(crate) size: *const c_void,
    pub(crate) compact: *const c_void,
    pub(crate) reserved: *const c_void,
    pub(crate) parent: *const c_void,
    pub(crate) data: *const c_void,
    pub(crate) flags: Value,
}

// SAFETY: read only; its pointers are null or to constants.
unsafe impl Sync for DataType {}

/// A function called by `rb_ensure`.
pub(crate) type Body = extern "C-unwind" fn(Value) -> Value;

/// `rb_internal_thread_event_data_t` since 3.3.
#[repr(C)]
pub(crate) struct ThreadEvent {
    pub(crate) thread: Value,
}

macro_rules! api {
    ($( $(#[$doc:meta])* $kind:ident $name:ident : $type:ty ),* $(,)?) => {
        /// Function addresses; the optional ones came with later versions. In this order, from the
        /// start of a cache line: between two requests of an app everything else has been in the
        /// caches, and each line is a miss.
        #[repr(C, align(64))]
        pub(crate) struct Api {
            $( $(#[$doc])* pub(crate) $name: api!(@field $kind $type), )*
        }

        impl Api {
            fn look_up() -> Option<Api> {
                Some(Api { $( $name: api!(@get $kind $name $type), )* })
            }
        }
    };
    (@field must $type:ty) => { $type };
    (@field may $type:ty) => { Option<$type> };
    (@get must $name:ident $type:ty) => {
        // SAFETY: the type is that of the function of this name in Ruby's public headers.
        unsafe { symbol::<$type>(concat!(stringify!($name), "\0")) }?
    };
    (@get may $name:ident $type:ty) => {
        // SAFETY: as above.
        unsafe { symbol::<$type>(concat!(stringify!($name), "\0")) }
    };
}

api! {
    // Of every request and event: one line of eight.
    /// 3.3 and later.
    may rb_internal_thread_specific_get: extern "C" fn(Value, c_int) -> *mut c_void,
    must rb_hash_delete: extern "C" fn(Value, Value) -> Value,
    must rb_string_value_ptr: extern "C" fn(*mut Value) -> *const c_char,
    must rb_thread_current: extern "C" fn() -> Value,
    must rb_ensure: extern "C-unwind" fn(Body, Value, Body, Value) -> Value,
    must rb_call_super: extern "C-unwind" fn(c_int, *const Value) -> Value,
    must rb_ary_entry: extern "C" fn(Value, c_long) -> Value,
    must rb_gc_stat: extern "C" fn(Value) -> usize,
    // The rest.
    must rb_define_module: extern "C" fn(*const c_char) -> Value,
    must rb_define_module_under: extern "C" fn(Value, *const c_char) -> Value,
    must rb_define_singleton_method:
        extern "C" fn(Value, *const c_char, *const c_void, c_int),
    must rb_define_method: extern "C" fn(Value, *const c_char, *const c_void, c_int),
    must rb_funcallv: extern "C-unwind" fn(Value, usize, c_int, *const Value) -> Value,
    must rb_ivar_get: extern "C" fn(Value, usize) -> Value,
    must rb_eval_string_protect: extern "C" fn(*const c_char, *mut c_int) -> Value,
    must rb_intern: extern "C" fn(*const c_char) -> usize,
    must rb_id2sym: extern "C" fn(usize) -> Value,
    must rb_utf8_str_new: extern "C" fn(*const c_char, c_long) -> Value,
    must rb_gc_register_mark_object: extern "C" fn(Value),
    must rb_hash_lookup: extern "C" fn(Value, Value) -> Value,
    may rb_gc_latest_gc_info: extern "C" fn(Value) -> Value,
    must rb_profile_frames: extern "C" fn(c_int, c_int, *mut Value, *mut c_int) -> c_int,
    must rb_profile_frame_method_name: extern "C" fn(Value) -> Value,
    must rb_profile_frame_absolute_path: extern "C" fn(Value) -> Value,
    must rb_profile_frame_path: extern "C" fn(Value) -> Value,
    must rb_add_event_hook: extern "C" fn(VmEventHook, u32, Value),
    /// 3.2 and later.
    may rb_internal_thread_add_event_hook:
        extern "C" fn(ThreadEventHook, u32, *mut c_void) -> *mut c_void,
    /// 3.3 and later, as the one below.
    may rb_internal_thread_specific_key_create: extern "C" fn() -> c_int,
    may rb_internal_thread_specific_set: extern "C" fn(Value, c_int, *mut c_void),
    must rb_profile_frame_full_label: extern "C" fn(Value) -> Value,
    must rb_profile_frame_first_lineno: extern "C" fn(Value) -> Value,
    must rb_data_typed_object_wrap: extern "C" fn(Value, *mut c_void, *const DataType) -> Value,
    must rb_gc_mark: extern "C" fn(Value),
    must rb_protect: extern "C" fn(extern "C-unwind" fn(Value) -> Value, Value, *mut c_int) -> Value,
    must rb_set_errinfo: extern "C" fn(Value),
    must rb_tracepoint_new: extern "C" fn(Value, u32, TraceHook, *mut c_void) -> Value,
    must rb_tracepoint_enable: extern "C" fn(Value) -> Value,
    must rb_tracepoint_disable: extern "C" fn(Value) -> Value,
    must rb_tracearg_from_tracepoint: extern "C" fn(Value) -> *mut c_void,
    must rb_tracearg_object: extern "C" fn(*mut c_void) -> Value,
    /// 3.2 and later.
    may rb_gc_obj_slot_size: extern "C" fn(Value) -> usize,
    /// Stack of another thread; 3.3 and later, as the two below.
    may rb_profile_thread_frames:
        extern "C" fn(Value, c_int, c_int, *mut Value, *mut c_int) -> c_int,
    may rb_postponed_job_preregister: extern "C" fn(c_uint, Job, *mut c_void) -> c_uint,
    may rb_postponed_job_trigger: extern "C" fn(c_uint),
    /// Before 3.3; gone in 4.1.
    may rb_postponed_job_register_one: extern "C" fn(c_uint, Job, *mut c_void) -> c_int,
    /// Makes the agent's functions callable in any Ractor.
    may rb_ext_ractor_safe: extern "C" fn(bool),
}

static API: OnceLock<Option<Api>> = OnceLock::new();

/// Returns the table, or `None` in a process without a known Ruby.
pub(crate) fn api() -> Option<&'static Api> {
    API.get_or_init(Api::look_up).as_ref()
}

/// Returns the address of `name` (with a closing NUL) as a function pointer.
///
/// # Safety
/// `T` must be a function pointer type that fits the function.
unsafe fn symbol<T: Copy>(name: &str) -> Option<T> {
    const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
    // SAFETY: `name` is NUL-terminated.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast()) };
    // SAFETY: same size, not null, and of that type as the caller vouches.
    (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
}

/// The running Ruby's version, such as `[3, 3, 0]`.
pub(crate) fn ruby_version() -> Option<[c_int; 3]> {
    // SAFETY: `ruby_api_version` is `const int[3]` in every Ruby.
    unsafe { symbol::<*const [c_int; 3]>("ruby_api_version\0").map(|address| *address) }
}

/// `ruby_description`.
pub(crate) fn ruby_description() -> String {
    // SAFETY: `ruby_description` is a `const char[]` in every Ruby.
    unsafe { symbol::<*const c_char>("ruby_description\0").map(|text| CStr::from_ptr(text)) }
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The integer as a fixnum.
pub(crate) const fn fixnum(number: i64) -> Value {
    ((number as usize) << 1) | 1
}

/// The integer in a fixnum, `None` for any other object.
pub(crate) const fn from_fixnum(value: Value) -> Option<i64> {
    if value & 1 == 1 {
        Some((value as i64) >> 1)
    } else {
        None
    }
}

/// Returns the bytes of a `String` of a length known from Ruby code. Borrowed: valid while the
/// caller holds `value`.
///
/// # Safety
/// `value` must be a live `String` (or anything but one, which gives `None`) and `bytes` its
/// `bytesize`.
pub(crate) unsafe fn string_bytes<'a>(value: Value, bytes: Value) -> Option<&'a [u8]> {
    let length = usize::try_from(from_fixnum(bytes)?).ok()?;
    if !is_string(value) {
        return None;
    }
    let mut value = value;
    let start = (api()?.rb_string_value_ptr)(&raw mut value);
    // SAFETY: a Ruby string's pointer is valid for `bytesize` bytes.
    (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start.cast(), length) })
}

/// Returns the bytes of a `String` without NUL inside, such as a method's name or a path, up to the
/// closing NUL.
pub(crate) fn c_string<'a>(value: Value) -> Option<&'a CStr> {
    if !is_string(value) {
        return None;
    }
    let mut value = value;
    let start = (api()?.rb_string_value_ptr)(&raw mut value);
    // SAFETY: Ruby ends ASCII-compatible strings with a NUL; the caller uses it while the object
    // lives.
    (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) })
}

/// Types of heap objects, as in the low five bits of `RBasic.flags` in all versions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeapType {
    String = 5,
    Array = 7,
    Hash = 8,
}

fn is_string(value: Value) -> bool {
    is(value, HeapType::String)
}

/// Whether a value is a heap object of type `heap_type`.
pub(crate) fn is(value: Value, heap_type: HeapType) -> bool {
    const IMMEDIATE_MASK: Value = 7;
    // `false`, `nil`, `true` and `undef` are small words in every version.
    const SPECIAL_MAX: Value = 0x40;
    const TYPE_MASK: usize = 0x1f;
    value > SPECIAL_MAX
        && value & IMMEDIATE_MASK == 0
        // SAFETY: not an immediate, so it points at an `RBasic`, whose first word is `flags`.
        && unsafe { *(value as *const usize) } & TYPE_MASK == heap_type as usize
}
