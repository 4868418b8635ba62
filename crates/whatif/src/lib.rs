//! What would other numbers of workers and threads give? A simulation that replays recorded bursts.
