//! Makes sled sync for real on Linux.
//!
//! sled takes what it has written for durable after `sync_file_range(2)`, which promises no such thing (its manual page: no
//! guarantee that the data will be available after a crash). On that belief it uses old parts of its file again, so that a power
//! cut can take pages that were never touched. A program with this crate in it has a `sync_file_range` of its own, which the
//! linker prefers to the C library's: it is `fdatasync(2)`, on the whole file.
//!
//! sled calls it for each buffer that it writes: some times in a second, if nobody asks it to flush more often.

use std::sync::atomic::{AtomicU64, Ordering};

static SYNCS: AtomicU64 = AtomicU64::new(0);

/// How often it was called, in place of the C library's.
#[must_use]
pub fn syncs() -> u64 {
    SYNCS.load(Ordering::Relaxed)
}

/// Has the linker keep it: whoever opens sled calls this.
pub fn keep() {
    #[cfg(target_os = "linux")]
    std::hint::black_box(sync_file_range as SyncFileRange);
}

#[cfg(target_os = "linux")]
type SyncFileRange = extern "C" fn(libc::c_int, libc::off64_t, libc::off64_t, libc::c_uint) -> libc::c_int;

/// Syncs the whole file. Answers as the C library's does, `errno` included.
// SAFETY: the name and the types are those of sync_file_range(2), and it keeps the promise of that function and more.
#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
extern "C" fn sync_file_range(
    file: libc::c_int,
    _from: libc::off64_t,
    _length: libc::off64_t,
    _flags: libc::c_uint,
) -> libc::c_int {
    SYNCS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: takes any number, and answers with an error if it is no open file.
    unsafe { libc::fdatasync(file) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn what_libc_declares_is_ours_and_tells_of_errors() {
        let before = syncs();
        let file = tempfile::tempfile().expect("a file");
        // SAFETY: as above.
        let (good, bad) =
            unsafe { (libc::sync_file_range(file.as_raw_fd(), 0, 1, 7), libc::sync_file_range(-1, 0, 1, 7)) };
        assert_eq!((good, bad), (0, -1));
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EBADF));
        assert_eq!(syncs() - before, 2);
    }
}
