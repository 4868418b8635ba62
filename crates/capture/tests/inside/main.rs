//! The agent inside a real Puma, with the real drivers.

mod acts;
mod agent;
mod calls;
mod hostile;
mod live;
mod standby;
mod support;
