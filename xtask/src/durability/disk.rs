//! A disk whose power can be cut: ext4 on a loop device.
//!
//! `xfs_io -x -c shutdown` stops the file system at once, without writing its journal or anything that waits in memory; what
//! was synced is on the device, what was not is gone with the unmounting.

use crate::command::{command, run, succeeds};
use anyhow::Context as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Room for a benchmark's worth of data.
const BYTES: u64 = 6 << 30;

/// The disk, mounted. It is unmounted and removed when this is dropped.
pub struct Disk {
    root: PathBuf,
    image: PathBuf,
    mount: PathBuf,
}

impl Disk {
    /// Makes a file system in a file of `folder` and mounts it.
    pub fn create(root: &Path, folder: &Path) -> anyhow::Result<Self> {
        let (image, mount) = (folder.join("disk.img"), folder.join("disk"));
        let disk = Self { root: root.to_owned(), image, mount };
        disk.unmount();
        fs::create_dir_all(&disk.mount)?;
        File::create(&disk.image)?.set_len(BYTES).context("no room for a disk")?;
        run(&mut command(root, "mkfs.ext4", &["-q".as_ref(), disk.image.as_os_str()]))?;
        disk.mount()?;
        Ok(disk)
    }

    /// Where it is mounted.
    pub fn mounted_at(&self) -> &Path {
        &self.mount
    }

    /// Cuts the power.
    pub fn cut(&self) -> anyhow::Result<()> {
        let arguments = ["-x".as_ref(), "-c".as_ref(), "shutdown".as_ref(), self.mount.as_os_str()];
        run(&mut command(&self.root, "xfs_io", &arguments))
    }

    /// Turns the power on again.
    pub fn restore(&self) -> anyhow::Result<()> {
        run(&mut command(&self.root, "umount", &[&self.mount]))?;
        self.mount()
    }

    fn mount(&self) -> anyhow::Result<()> {
        let arguments = ["-o".as_ref(), "loop".as_ref(), self.image.as_os_str(), self.mount.as_os_str()];
        run(&mut command(&self.root, "mount", &arguments))
    }

    /// Not mounted is fine, too.
    fn unmount(&self) {
        succeeds(&mut command(&self.root, "umount", &[&self.mount]));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.unmount();
        // Left behind it would only take room.
        let _ = fs::remove_file(&self.image);
    }
}
