//! The arithmetic of NodeResourcesFit and NodeResourcesBalancedAllocation for one row.
//! Python's `filter_row` and `score_row` of these plugins are the meaning.
use crate::buffers::Array;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

const MAX_NODE_SCORE: i64 = 100;

/// What the nodes offer of a resource, and what their pods ask for.
pub struct Amounts {
    offered: Array<i64>,
    used: Array<i64>,
}

impl Amounts {
    pub fn new(offered: Array<i64>, used: Array<i64>, size: usize) -> PyResult<Self> {
        Ok(Amounts { offered: offered.readable(size)?, used: used.readable(size)? })
    }

    fn of(&self, row: usize) -> (i64, i64) {
        (self.offered.get()[row], self.used.get()[row])
    }
}

/// A resource that must fit: its amounts, what the pod asks for, and whether devices may stand in.
pub type Wanted = (Amounts, i64, bool);

/// The filter of NodeResourcesFit.
pub struct FitRule {
    pub codes: Array<i32>,
    pub pods: Amounts,
    pub wanted: Vec<Wanted>,
}

impl FitRule {
    /// Bit 0 is the number of pods, then two bits a resource: short, and never enough.
    pub fn update(&self, row: usize) {
        let (offered, used) = self.pods.of(row);
        let mut code = i32::from(used + 1 > offered);
        for (index, (amounts, amount, by_devices)) in self.wanted.iter().enumerate() {
            let (offered, used) = amounts.of(row);
            if *amount > offered - used && !(*by_devices && offered == 0) {
                code |= (1 + 2 * i32::from(*amount > offered)) << (1 + 2 * index);
            }
        }
        self.codes.set(row, code);
    }
}

/// How utilisation becomes a score.
pub enum Strategy {
    Least,
    Most,
    /// The score for each percent of utilisation.
    Ratio(Vec<i64>),
    Balanced,
}

impl Strategy {
    pub fn named(name: &str, line: Vec<i64>) -> PyResult<Self> {
        match name {
            "least" => Ok(Strategy::Least),
            "most" => Ok(Strategy::Most),
            "ratio" if line.len() == 101 => Ok(Strategy::Ratio(line)),
            "balanced" => Ok(Strategy::Balanced),
            _ => Err(PyValueError::new_err(format!("unknown strategy {name}"))),
        }
    }
}

/// A resource of a score: its amounts, its weight, and what the pod asks for.
pub struct Share {
    pub amounts: Amounts,
    pub weight: i64,
    pub request: i64,
}

/// A Score plugin whose answer depends on the amounts of a row.
pub struct ScoreRule {
    pub raw: Array<i64>,
    pub strategy: Strategy,
    pub shares: Vec<Share>,
}

impl ScoreRule {
    /// Writes the score of a row; false if it is not in the range of scores.
    pub fn update(&self, row: usize) -> bool {
        let score = match &self.strategy {
            Strategy::Least => self.weighted(row, least),
            Strategy::Most => self.weighted(row, most),
            Strategy::Ratio(line) => self.on_line(row, line),
            Strategy::Balanced => self.balanced(row),
        };
        self.raw.set(row, score);
        (0..=MAX_NODE_SCORE).contains(&score)
    }

    /// The mean of the resources that the node offers.
    fn weighted(&self, row: usize, score: fn(i64, i64) -> i64) -> i64 {
        let (mut total, mut weights) = (0, 0);
        for share in &self.shares {
            let (offered, used) = share.amounts.of(row);
            if offered != 0 {
                total += score(used + share.request, offered) * share.weight;
                weights += share.weight;
            }
        }
        if weights != 0 { total.div_euclid(weights) } else { 0 }
    }

    /// Resources that score 0 do not count; the mean is rounded.
    fn on_line(&self, row: usize, line: &[i64]) -> i64 {
        let (mut total, mut weights) = (0, 0);
        for share in &self.shares {
            let (offered, used) = share.amounts.of(row);
            let requested = used + share.request;
            if offered == 0 {
                continue;
            }
            let percent = if requested > offered { 100 } else { floored(requested, 100, offered) };
            let value = line[percent.clamp(0, 100) as usize];
            if value > 0 {
                total += value * share.weight;
                weights += share.weight;
            }
        }
        if weights != 0 { (total as f64 / weights as f64).round() as i64 } else { 0 }
    }

    fn balanced(&self, row: usize) -> i64 {
        let half = MAX_NODE_SCORE / 2;
        half + (half + self.evenness(row, true) - self.evenness(row, false)) / 2
    }

    /// 100 minus the standard deviation of the used fractions, in percent.
    fn evenness(&self, row: usize, with_pod: bool) -> i64 {
        let fraction = |share: &Share| {
            let (offered, used) = share.amounts.of(row);
            let taken = if with_pod { used + share.request } else { used };
            (offered != 0).then(|| if taken < offered { taken as f64 / offered as f64 } else { 1.0 })
        };
        let (mut first, mut second, mut total, mut number) = (0.0, 0.0, 0.0, 0u32);
        for value in self.shares.iter().filter_map(fraction) {
            match number {
                0 => first = value,
                1 => second = value,
                _ => (),
            }
            total += value;
            number += 1;
        }
        let deviation = match number {
            0 | 1 => 0.0,
            2 => ((first - second) / 2.0_f64).abs(),
            _ => {
                let mean = total / f64::from(number);
                let square = |value: f64| (value - mean) * (value - mean);
                let squares = self.shares.iter().filter_map(fraction).fold(0.0, |sum, value| sum + square(value));
                (squares / f64::from(number)).sqrt()
            }
        };
        ((1.0 - deviation) * MAX_NODE_SCORE as f64) as i64
    }
}

fn least(requested: i64, offered: i64) -> i64 {
    if requested > offered { 0 } else { floored(offered - requested, MAX_NODE_SCORE, offered) }
}

fn most(requested: i64, offered: i64) -> i64 {
    floored(requested.min(offered), MAX_NODE_SCORE, offered)
}

/// a * b / c rounded down, without overflow.
fn floored(a: i64, b: i64, c: i64) -> i64 {
    match a.checked_mul(b) {
        Some(product) if c > 0 => product.div_euclid(c),
        _ => {
            let (product, c) = (i128::from(a) * i128::from(b), i128::from(c));
            let quotient = product / c;
            (if product % c != 0 && (product < 0) != (c < 0) { quotient - 1 } else { quotient }) as i64
        }
    }
}
