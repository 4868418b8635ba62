//! Laws for any setup.

use proptest::prelude::*;

use super::*;

fn any_setup() -> impl Strategy<Value = Setup> {
    let load = prop_oneof![
        (1u32..30, 0u64..20_000_000).prop_map(|(clients, think)| Load::Closed {
            clients,
            think: Nanos(think),
        }),
        (1.0f64..60.0, any::<bool>()).prop_map(|(rate, even)| Load::Open {
            rate,
            arrivals: if even {
                Arrivals::Even
            } else {
                Arrivals::Poisson
            },
            connections: 50,
        }),
    ];
    let hand_out = prop_oneof![
        Just(HandOut::Shared),
        Just(HandOut::PumaInline),
        Just(HandOut::PumaReactor),
    ];
    let costs =
        (0u64..300_000, 0u64..100_000, 0u64..500_000).prop_map(|(turnaround, wake, generator)| {
            Costs {
                turnaround: Nanos(turnaround),
                wake: Nanos(wake),
                generator: Nanos(generator),
                ..Costs::default()
            }
        });
    (1u32..4, 1u32..8, 1u32..4, load, hand_out, costs).prop_map(
        |(workers, threads, cores, load, hand_out, costs)| Setup {
            workers,
            threads,
            cores,
            load,
            hand_out,
            costs,
            lock_places: 1,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Same seed, same result; and what holds for any queueing network: no station is more than
    /// busy, work is conserved, requests in the system are rate times latency (Little), no bound is
    /// passed.
    #[test]
    fn laws_hold(
        lengths in prop::collection::vec((0.1f64..120.0, 0.0f64..50.0), 1..6),
        setup in any_setup(),
        seed in any::<u64>(),
    ) {
        let requests: Vec<Vec<Burst>> = lengths.iter().map(|(run, off)| request(*run, *off)).collect();
        let workload = workload(&requests);
        let seen = simulate(&workload, &setup, seed, 3_000).unwrap();
        prop_assert_eq!(Some(seen), simulate(&workload, &setup, seed, 3_000));
        prop_assert!(seen.gvl_busy <= 1.0 + 1e-9 && seen.cores_busy <= 1.0 + 1e-9);
        prop_assert!(seen.threads_busy <= 1.0 + 1e-9);
        prop_assert!(seen.latency_p50 <= seen.latency_p95 && seen.latency_p95 <= seen.latency_p99);
        prop_assert!(seen.rps > 0.0 && seen.rps.is_finite());
        // By chance 3,000 random arrivals come faster than their rate: five standard deviations are
        // 9 %.
        prop_assert!(seen.rps <= 1.1 * bound::rps_max(&workload, &setup), "{seen:?}");
        let means = workload.means();
        let generator = setup.costs.generator.0 as f64;
        let dispatch = 4.0 * DISPATCH.0 as f64;
        let worked = seen.cores_busy * f64::from(setup.cores) / seen.rps * 1e9;
        prop_assert!(worked >= 0.9 * (means.run + generator), "{worked} of {means:?}: {seen:?}");
        prop_assert!(worked <= 1.1 * (means.run + generator + dispatch), "{worked} of {means:?}: {seen:?}");
    }

    /// Little's law, with the queue in balance and a turn for every client.
    #[test]
    fn requests_in_the_system_are_rate_times_latency(
        lengths in prop::collection::vec((0.1f64..20.0, 0.0f64..50.0), 1..6),
        workers in 1u32..4,
        threads in 1u32..8,
        clients in 1u32..30,
        think in 0u64..20_000_000,
        hand_out in prop_oneof![Just(HandOut::Shared), Just(HandOut::PumaReactor)],
    ) {
        let requests: Vec<Vec<Burst>> = lengths.iter().map(|(run, off)| request(*run, *off)).collect();
        let setup = Setup {
            load: Load::Closed { clients, think: Nanos(think) },
            hand_out,
            ..Setup::closed(workers, threads, 2, 1)
        };
        let seen = simulate(&workload(&requests), &setup, 1, 5_000).unwrap();
        let little = seen.rps * seen.latency_mean.as_secs_f64();
        prop_assert!((little / seen.in_system_mean - 1.0).abs() <= 0.05, "{little}: {seen:?}");
    }
}
