//! The built binary, tried from outside: real sockets, real signals, a real disk.

mod activation;
mod collector;
mod crowds;
mod data;
mod demo;
mod disk;
mod follow;
mod hosts;
mod kill;
mod load;
mod operations;
mod operator;
mod operator_secrets;
mod outgoing;
mod overload;
mod postgres;
mod private;
mod process;
mod refusals;
mod secrets;
mod stalled_log;
mod start;
mod stop;
mod sync;
mod tls;
mod transfer;
