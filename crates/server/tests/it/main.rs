//! The built binary, tried from outside: real sockets, real signals, a real disk.

mod collector;
mod crowds;
mod data;
mod demo;
mod disk;
mod follow;
mod http2;
mod kill;
mod load;
mod operations;
mod operator;
mod operator_secrets;
mod overload;
mod postgres;
mod process;
mod refusals;
mod secrets;
mod start;
mod stop;
mod sync;
mod tls;
mod transfer;
mod unread;
