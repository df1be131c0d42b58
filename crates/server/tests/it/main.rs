//! The built binary, tried from outside: real sockets, real signals, a real disk.

mod data;
mod demo;
mod disk;
mod kill;
mod load;
mod process;
mod refusals;
mod start;
mod stop;
mod sync;
