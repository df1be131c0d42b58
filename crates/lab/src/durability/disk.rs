//! A disk whose power can be cut: ext4 on a loop device.
//!
//! `xfs_io -x -c shutdown` stops the file system at once, without writing its journal or anything that waits in memory; what
//! was synced is on the device, what was not is gone with the unmounting.

use crate::lab::Lab;
use anyhow::Context as _;
use std::fs::{self, File};
use std::path::PathBuf;
use xshell::{Shell, cmd};

/// Room for a benchmark's worth of data.
const BYTES: u64 = 6 << 30;

/// The disk, mounted. It is unmounted and removed when this is dropped.
pub struct Disk {
    shell: Shell,
    image: PathBuf,
    mount: PathBuf,
}

impl Disk {
    /// Makes a file system in a file of the lab's folder and mounts it.
    pub fn create(lab: &Lab) -> anyhow::Result<Self> {
        let disk = Self { shell: lab.shell()?, image: lab.path("disk.img"), mount: lab.path("disk") };
        fs::create_dir_all(&disk.mount)?;
        File::create(&disk.image)?.set_len(BYTES).context("no room for a disk")?;
        let image = &disk.image;
        cmd!(disk.shell, "mkfs.ext4 -q {image}").run()?;
        disk.mount()?;
        Ok(disk)
    }

    /// A store on it.
    pub fn store(&self) -> String {
        format!("sled:{}", self.mount.join("data").display())
    }

    /// Cuts the power.
    pub fn cut(&self) -> anyhow::Result<()> {
        let mount = &self.mount;
        Ok(cmd!(self.shell, "xfs_io -x -c shutdown {mount}").run()?)
    }

    /// Turns the power on again.
    pub fn restore(&self) -> anyhow::Result<()> {
        let mount = &self.mount;
        cmd!(self.shell, "umount {mount}").run()?;
        self.mount()
    }

    fn mount(&self) -> anyhow::Result<()> {
        let Self { shell, image, mount } = self;
        Ok(cmd!(shell, "mount -o loop {image} {mount}").run()?)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mount = &self.mount;
        // Left behind it would only take room.
        let _ = cmd!(self.shell, "umount {mount}").run();
        let _ = fs::remove_file(&self.image);
    }
}
