//! `hakaru doctor` with the real program: faults that were planted are found, and nothing is found
//! where nothing was planted.

mod facts;
mod places;
mod support;
