//! Where a user stands: from entry to entry, and from iteration to iteration.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Position, Session, User};
use crate::answer::Answer;
use crate::date::Date;
use crate::digest::{Asked, Challenge};
use crate::render::digest_user;
use crate::scenario::Flow;
use crate::step::Step;

/// The status of a challenge.
const UNAUTHORIZED: u16 = 401;

impl<'s> Session<'s> {
    pub(super) fn step(&self, user: &mut User) -> &'s Step {
        let position = self.position(user);
        &self.scenario.flows[position.flow].steps[position.entry]
    }

    /// Returns the user's current flow.
    pub(super) fn flow(&self, user: &mut User) -> &'s Flow {
        let position = self.position(user);
        &self.scenario.flows[position.flow]
    }

    pub(super) fn position(&self, user: &mut User) -> Position {
        match user.at {
            Some(position) => position,
            None => self.begin_iteration(user),
        }
    }

    pub(super) fn take_cookies(&self, user: &mut User, answer: &Answer<'_>) {
        let (_, path) = user.line.split_once(' ').unwrap_or(("", "/"));
        for header in answer.values("set-cookie") {
            let date = answer.values("date").next().and_then(Date::parse_http);
            user.jar.take(header, path, date, Instant::now());
        }
    }

    /// Follows the response when a redirect and allowed by the entry; returns whether one more
    /// request is due for the entry.
    pub(super) fn follow(
        &self,
        step: &Step,
        user: &mut User,
        answer: &Answer<'_>,
    ) -> Result<bool, String> {
        if step.entry.options.may_digest() && self.answers_challenge(step, user, answer)? {
            return Ok(true);
        }
        if !step.entry.options.may_follow() {
            return Ok(false);
        }
        match step.entry.options.redirects_max(&mut user.variables)? {
            None => Ok(false),
            Some(most) => {
                let base = &self.scenario.base;
                user.trail.follow(answer, &user.method, base, most)
            }
        }
    }

    /// Responds to a challenge of the server, where the entry says so; returns whether there is
    /// one.
    fn answers_challenge(
        &self,
        step: &Step,
        user: &mut User,
        answer: &Answer<'_>,
    ) -> Result<bool, String> {
        if answer.status != UNAUTHORIZED || user.trail.is_authorized() {
            return Ok(false);
        }
        let Some(pair) = digest_user(step, &mut user.variables)? else {
            return Ok(false);
        };
        let values = answer.values("www-authenticate");
        let mut values = values.filter_map(|value| std::str::from_utf8(value).ok());
        let Some(challenge) = values.find_map(Challenge::parse) else {
            return Ok(false);
        };
        let (name, password) = pair.split_once(':').unwrap_or((&pair, ""));
        let origin = self.scenario.base.origin();
        let uri = user
            .trail
            .url
            .strip_prefix(&origin)
            .unwrap_or("/")
            .to_owned();
        let authorization = challenge.answer(Asked {
            method: &user.method,
            uri: &uri,
            user: name,
            password,
            cnonce: &user.variables.new_uuid(),
        });
        user.trail.authorize(&user.method, &uri, authorization);
        Ok(true)
    }

    /// Returns the number in the whole plan of the part's `own`th iteration, and the iteration's
    /// flow.
    fn turn(&self, own: u64) -> (u64, usize) {
        if let Some(arrivals) = &self.scenario.arrivals {
            // As the pacer shares the due times.
            let iteration = self.part.in_whole(own);
            let flows = &arrivals.flows;
            return (
                iteration,
                usize::from(flows[(iteration % flows.len() as u64) as usize]),
            );
        }
        let cycle = &self.scenario.cycle;
        let iteration = self.part.iteration(own, cycle.len() as u64);
        let turn = (iteration % cycle.len() as u64 + self.seed % cycle.len() as u64) as usize;
        (iteration, usize::from(cycle[turn % cycle.len()]))
    }

    fn begin_iteration(&self, user: &mut User) -> Position {
        let own = self.iterations.fetch_add(1, Ordering::Relaxed);
        let (iteration, flow) = self.turn(own);
        let chosen = &self.scenario.flows[flow];
        user.variables.begin_iteration(iteration, user.number);
        let mut row = None;
        if let Some(feed) = chosen.feed {
            row = self.free_rows[feed].take();
            let feed = &self.scenario.feeds[feed];
            // More users than rows: refused before a load starts. Were it not, a row would be
            // shared.
            let used = row.unwrap_or((iteration % feed.rows.len() as u64) as u32);
            for (name, value) in feed.names.iter().zip(&feed.rows[used as usize]) {
                user.variables.set(name, value.clone());
            }
        }
        let begun = Position {
            flow,
            entry: 0,
            runs_left: 1,
            tries: 0,
            retries: 0,
            rounds_left: chosen.rounds.map_or(1, |rounds| rounds.count),
            row,
            has_sent: false,
        };
        let position = self.settle(user, begun).unwrap_or_else(|last| {
            user.fault = Some("every entry of the flow is skipped".to_owned());
            last
        });
        user.at = Some(position);
        position
    }

    /// Moves the user on from a finished entry.
    pub(super) fn advance(&self, user: &mut User) {
        let Some(position) = &mut user.at else {
            return;
        };
        position.has_sent = true;
        position.tries = 0;
        if position.runs_left > 1 {
            position.runs_left -= 1;
            return;
        }
        let mut next = Position {
            entry: position.entry + 1,
            ..*position
        };
        let rounds = self.scenario.flows[next.flow].rounds;
        if let Some(rounds) =
            rounds.filter(|rounds| next.entry == rounds.end && next.rounds_left > 1)
        {
            next.rounds_left -= 1;
            next.entry = rounds.first;
        }
        match self.settle(user, next) {
            Ok(position) => user.at = Some(position),
            Err(_) => self.end_iteration(user),
        }
    }

    /// Returns the first entry from `position` on not skipped, with variables set; the last one as
    /// an error when all are skipped.
    fn settle(&self, user: &mut User, mut position: Position) -> Result<Position, Position> {
        let steps = &self.scenario.flows[position.flow].steps;
        while let Some(step) = steps.get(position.entry) {
            match enter(step, user) {
                Ok((0, _)) => position.entry += 1,
                Ok(_) if self.is_fresh(user, position) => position.entry += 1,
                Ok((runs, retries)) => {
                    position.runs_left = runs;
                    position.retries = retries;
                    return Ok(position);
                }
                Err(why) => {
                    position.runs_left = 1;
                    position.retries = 0;
                    user.fault = Some(why);
                    return Ok(position);
                }
            }
        }
        position.entry = steps.len() - 1;
        Err(position)
    }

    /// Returns whether the failed entry is to be tried again; the user then stays.
    pub(super) fn tries_again(&self, user: &mut User) -> bool {
        let Some(position) = user.at else {
            return false;
        };
        // An option that cannot be read is not mended by another try.
        if position.tries >= position.retries || user.fault.is_some() {
            return false;
        }
        user.at = Some(Position {
            tries: position.tries + 1,
            ..position
        });
        user.trail.clear();
        user.is_trying_again = true;
        true
    }

    pub(super) fn end_iteration(&self, user: &mut User) {
        user.fault = None;
        user.trail.clear();
        user.is_trying_again = false;
        let Some(position) = user.at.take() else {
            return;
        };
        if let (Some(feed), Some(row)) = (self.scenario.flows[position.flow].feed, position.row) {
            self.free_rows[feed].give_back(row);
        }
        user.variables.clear();
        user.jar.clear();
    }
}

/// Enters an entry: sets variables; returns the number of runs, 0 for a skipped one, and of retries
/// per run.
fn enter(step: &Step, user: &mut User) -> Result<(u64, u64), String> {
    let options = &step.entry.options;
    if options.lines.is_empty() {
        return Ok((1, 0));
    }
    options.set_variables(&mut user.variables)?;
    match options.skips(&mut user.variables)? {
        true => Ok((0, 0)),
        false => Ok((
            options.repeat(&mut user.variables)?,
            options.retries(&mut user.variables)?,
        )),
    }
}

impl Position {
    pub(super) fn step_number(self) -> u32 {
        (self.flow as u32) << 16 | self.entry as u32
    }
}
