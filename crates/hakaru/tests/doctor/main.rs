//! `hakaru doctor` with the real program: planted faults are found, and without planted faults
//! nothing is found.

mod facts;
mod page;
mod places;
mod postgres;
mod support;
