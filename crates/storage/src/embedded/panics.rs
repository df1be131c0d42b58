//! Hides the messages of sled's panics.
//!
//! sled reports some damage by panicking, and its messages can quote what is stored: bank details must not reach
//! standard error or a log. While a thread is inside [`caught`], and on sled's own threads, only the source location of
//! a panic is shown.
//!
//! The hook is set once and passes every other panic on to the hook that was there before, so a program that sets a
//! hook of its own should do so before it opens a store.

use super::problem::Problem;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// `Some` inside `caught`: where the thread panicked, once it has.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Panics of sled's own threads so far, in any store of the process.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// How many of sled's own threads have panicked, in any store of the process.
pub(crate) fn panics() -> usize {
    PANICS.load(Ordering::SeqCst)
}

/// Runs `work`; a panic becomes an error that names its source location. What `work` has changed is not to be used
/// then.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !note(panic) {
                before(panic);
            }
        }));
    });
    let outer = PLACE.with_borrow_mut(|place| place.replace(String::new()));
    let result = catch_unwind(AssertUnwindSafe(work));
    let place = PLACE.with_borrow_mut(|place| std::mem::replace(place, outer));
    result.unwrap_or_else(|_| Err(Problem::Index(format!("the database panicked at {}", place.unwrap_or_default()))))
}

/// Notes the location of a panic that has to be hidden; false if it is another panic.
fn note(panic: &PanicHookInfo<'_>) -> bool {
    let place = || panic.location().map(ToString::to_string).unwrap_or_default();
    let inside = PLACE.try_with(|slot| match slot.try_borrow_mut().as_deref_mut() {
        Ok(Some(slot)) => {
            *slot = place();
            true
        }
        Ok(None) | Err(_) => false,
    });
    if inside.unwrap_or(false) {
        return true;
    }
    let thread = std::thread::current();
    let sleds = thread.name().is_some_and(|name| name.starts_with("sled-io-") || name == "log flusher");
    if sleds {
        PANICS.fetch_add(1, Ordering::SeqCst);
        tracing::error!(place = place(), "a thread of the database panicked");
    }
    sleds
}
