//! Takes long requests apart: a full list of stretches ends with one of each kind for all later
//! ones.

use recording::{BURSTS_MAX, Burst, BurstKind, Nanos};

/// Most stretches folded into one: a guess, so as to bound the list. So many rows are a lot for one
/// request.
const TURNS_MAX: usize = 1_000;

/// The kinds off the GVL.
const OFF: [BurstKind; 5] = [
    BurstKind::Sql,
    BurstKind::Http,
    BurstKind::Lock,
    BurstKind::Sleep,
    BurstKind::OtherIo,
];

/// Returns the stretches with folded ones taken apart, each as long as the mean of the others of
/// the kind. In one piece they would keep the GVL to the end, where in truth it was let go of again
/// and again.
pub(super) fn unfolded(bursts: &[Burst]) -> Vec<Burst> {
    let last = |kind| bursts.iter().rposition(|burst| burst.kind == kind);
    let run = last(BurstKind::Running).filter(|_| bursts.len() >= BURSTS_MAX);
    let Some(run) = run else {
        return bursts.to_vec();
    };
    let off = OFF.into_iter().filter_map(last);
    let folded = off.map(|at| (at, stands_for(bursts, at).min(stands_for(bursts, run))));
    let folded: Vec<(usize, usize)> = folded.filter(|(_, turns)| *turns > 1).collect();
    let pieces: usize = folded.iter().map(|(_, turns)| turns).sum();
    if pieces == 0 {
        return bursts.to_vec();
    }
    let is_folded = |at: usize| at == run || folded.iter().any(|(folded, _)| *folded == at);
    let single = bursts.iter().enumerate();
    let single = single.filter(|(at, _)| !is_folded(*at));
    let mut unfolded: Vec<Burst> = single.map(|(_, burst)| *burst).collect();
    let piece = |at: usize, of: usize| Burst {
        length: Nanos(bursts[at].length.0 / of as u64),
        ..bursts[at]
    };
    for (at, turns) in folded {
        let turn = [piece(run, pieces), piece(at, turns)];
        unfolded.extend((0..turns).flat_map(|_| turn));
    }
    unfolded
}

/// Returns how many stretches are folded into one, by the mean length of the others of the kind; 1
/// without others.
fn stands_for(bursts: &[Burst], at: usize) -> usize {
    let all: Vec<u64> = bursts
        .iter()
        .filter(|burst| burst.kind == bursts[at].kind)
        .map(|burst| burst.length.0)
        .collect();
    let own = bursts[at].length.0;
    let others = all.iter().sum::<u64>() - own;
    let mean = others / (all.len() as u64 - 1).max(1);
    match mean {
        0 => 1,
        mean => ((own / mean) as usize).clamp(1, TURNS_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(kind: BurstKind, nanos: u64) -> Burst {
        Burst {
            kind,
            length: Nanos(nanos),
        }
    }

    /// Returns `turn` repeated until the list is full but for two, then the two stretches of
    /// `last`.
    fn full(turn: [Burst; 2], last: [Burst; 2]) -> Vec<Burst> {
        let turns = turn.into_iter().cycle().take(BURSTS_MAX - 2);
        turns.chain(last).collect()
    }

    fn sum(bursts: &[Burst], kind: BurstKind) -> u64 {
        let same = bursts.iter().filter(|burst| burst.kind == kind);
        same.map(|burst| burst.length.0).sum()
    }

    #[test]
    fn what_stands_for_many_is_taken_apart() {
        use BurstKind::{OtherIo, Running, Sleep, Sql};
        let check = |last: [(BurstKind, u64); 2], added: usize| {
            let last = last.map(|(kind, nanos)| burst(kind, nanos));
            let bursts = full([burst(Running, 50), burst(OtherIo, 10)], last);
            let unfolded = unfolded(&bursts);
            assert_eq!(unfolded.len(), bursts.len() + added, "{last:?}");
            for kind in [Running, OtherIo, Sleep, Sql] {
                assert_eq!(sum(&unfolded, kind), sum(&bursts, kind), "{last:?}");
            }
            unfolded
        };
        let unfolded = check([(Running, 5_000), (OtherIo, 1_000)], 198);
        assert!(unfolded.iter().all(|burst| burst.length.0 <= 50));
        check([(Running, 50), (OtherIo, 10)], 0);
        // One long wait is no hundred short ones: the thread has hardly run meanwhile.
        check([(Running, 60), (OtherIo, 1_000)], 0);
        check([(Running, 5_000), (OtherIo, 20)], 2);
        check([(Running, 5_000), (Sleep, 1_000)], 0);
        // More than anything does.
        check([(Running, 500_000), (OtherIo, 100_000)], 1_998);
    }

    #[test]
    fn a_list_with_room_is_left_as_it_is() {
        let bursts = vec![burst(BurstKind::Running, 5), burst(BurstKind::Sql, 100)];
        assert_eq!(unfolded(&bursts), bursts);
        assert_eq!(unfolded(&[]), []);
    }
}
