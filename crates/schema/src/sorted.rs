//! An order with prerequisites first.

/// Sorts indices behind the needed ones, otherwise in the original order. A circle is cut where it
/// closes.
///
/// `needs` returns indices into the same list.
pub(crate) fn sorted<N>(count: usize, needs: impl Fn(usize) -> N) -> Vec<usize>
where
    N: IntoIterator<Item = usize>,
{
    let mut order = Vec::with_capacity(count);
    let mut is_reached = vec![false; count];
    for start in 0..count {
        if is_reached[start] {
            continue;
        }
        is_reached[start] = true;
        // A list instead of recursion: a chain may be as long as the schema.
        let mut path = vec![(start, needs(start).into_iter())];
        while let Some((at, waiting)) = path.last_mut() {
            match waiting.find(|next| !is_reached[*next]) {
                Some(next) => {
                    is_reached[next] = true;
                    path.push((next, needs(next).into_iter()));
                }
                None => {
                    order.push(*at);
                    path.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first() {
        let needs = |at: usize| match at {
            0 => vec![2],
            2 => vec![1],
            3 => vec![4],
            4 => vec![3],
            _ => Vec::new(),
        };
        assert_eq!(sorted(5, needs), [1, 2, 0, 4, 3]);
    }

    #[test]
    fn what_needs_nothing_stays_where_it_is() {
        assert_eq!(sorted(3, |at| [at]), [0, 1, 2]);
        assert_eq!(sorted(0, |at| [at]), [] as [usize; 0]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let count = 100_000;
        let order = sorted(count, |at| (at + 1 < count).then_some(at + 1));
        assert!(order.iter().rev().copied().eq(0..count));
    }
}
