//! Totals of feasible rows: the local sum and scores that are normalized over the feasible rows.
use crate::buffers::Array;
use crate::domains::Domains;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

const MAX_NODE_SCORE: i64 = 100;
/// How many of the best places are told.
const FEW: usize = 3;
const LANES: usize = 8;

/// How a plugin normalizes its scores.
#[derive(Clone, Copy)]
pub enum Normalize {
    /// as a share of the highest
    Share,
    /// the same, with 100 for the lowest
    ReverseShare,
    /// as a place between the lowest and the highest
    Between,
    /// done already
    Done,
}

impl Normalize {
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "share" => Ok(Normalize::Share),
            "reverse-share" => Ok(Normalize::ReverseShare),
            "between" => Ok(Normalize::Between),
            _ => Err(PyValueError::new_err(format!("unknown normalisation {name}"))),
        }
    }

    fn apply(self, scores: &mut [i64]) {
        let highest = scores.iter().copied().max().unwrap_or(0);
        match self {
            Normalize::Done => (),
            Normalize::Share if highest <= 0 => (),
            Normalize::Share => scores.iter_mut().for_each(|score| *score = share(*score, highest)),
            Normalize::ReverseShare if highest <= 0 => scores.fill(MAX_NODE_SCORE),
            Normalize::ReverseShare => {
                scores.iter_mut().for_each(|score| *score = MAX_NODE_SCORE - share(*score, highest));
            }
            Normalize::Between => {
                let lowest = scores.iter().copied().min().unwrap_or(0);
                if highest == lowest {
                    scores.fill(0);
                    return;
                }
                let width = (highest - lowest) as f64;
                for score in scores.iter_mut() {
                    *score = (MAX_NODE_SCORE as f64 * ((*score - lowest) as f64 / width)) as i64;
                }
            }
        }
    }
}

fn share(score: i64, highest: i64) -> i64 {
    (MAX_NODE_SCORE * score).div_euclid(highest)
}

/// Raw scores by row that are normalized over the feasible rows.
pub struct ByRow {
    pub raw: Array<i64>,
    pub normalize: Normalize,
    pub weight: i64,
}

/// Raw scores that are sums of domains, each times a factor.
pub struct ByDomain {
    pub parts: Vec<(Domains, i64)>,
    pub normalize: Normalize,
    pub weight: i64,
}

/// What is added to the local sums: the same for all rows, and scores of plugins. Those of `parallel` are normalized
/// and parallel to the rows.
pub struct Scorers {
    pub settled: i64,
    pub by_row: Vec<ByRow>,
    pub by_domain: Vec<ByDomain>,
    pub parallel: Vec<(Array<i64>, i64)>,
}

impl Scorers {
    /// Adds scores to the local sums of rows; false if a score is not in the range of scores.
    pub fn add(&self, total: &mut [i64], rows: &[i64]) -> bool {
        if self.settled != 0 {
            total.iter_mut().for_each(|sum| *sum += self.settled);
        }
        let mut is_in_range = true;
        for ByRow { raw, normalize, weight } in &self.by_row {
            let scores = rows.iter().map(|&row| raw.get()[row as usize]).collect();
            is_in_range &= add_normalized(total, scores, *normalize, *weight);
        }
        for ByDomain { parts, normalize, weight } in &self.by_domain {
            let mut scores = vec![0; rows.len()];
            for (domains, factor) in parts {
                scores.iter_mut().zip(rows).for_each(|(score, &row)| *score += domains.sum(row as usize) * factor);
            }
            is_in_range &= add_normalized(total, scores, *normalize, *weight);
        }
        for (scores, weight) in &self.parallel {
            let Some(scores) = scores.get().get(..rows.len()) else { return false };
            is_in_range &= add_normalized(total, scores.to_vec(), Normalize::Done, *weight);
        }
        is_in_range
    }

    /// Whether `add` reads the rows, and not the sums alone.
    pub fn reads_rows(&self) -> bool {
        !(self.by_row.is_empty() && self.by_domain.is_empty() && self.parallel.is_empty())
    }

    /// Whether a plugin that scores by domain has nothing but zeros: Python's PreScore skips it then.
    pub fn is_idle(&self) -> bool {
        self.by_domain.iter().any(|one| one.parts.iter().all(|(domains, _)| domains.are_empty()))
    }
}

pub fn outside() -> PyErr {
    PyIndexError::new_err("a row or domain is outside of its column")
}

/// Normalizes scores and adds them to the totals; false if one is not in the range of scores.
fn add_normalized(total: &mut [i64], mut scores: Vec<i64>, normalize: Normalize, weight: i64) -> bool {
    normalize.apply(&mut scores);
    for (sum, score) in total.iter_mut().zip(&scores) {
        if !(0..=MAX_NODE_SCORE).contains(score) {
            return false;
        }
        *sum += score * weight;
    }
    true
}

/// The places of a binary heap in the order of the walk parent, left, right. A smaller heap has the same order, without
/// the places that it does not have.
#[derive(Default)]
pub struct Walk(Vec<usize>);

impl Walk {
    /// The first places of the highest total, ascending, and the one of all its places that upstream's heap has at its
    /// root: the first that is met.
    pub fn best(&mut self, total: &[i64]) -> (Vec<i64>, i64) {
        if self.0.len() < total.len() {
            self.grow(total.len());
        }
        let highest = highest(total);
        let few = total.iter().zip(0..).filter(|(&one, _)| one == highest).map(|(_, place)| place).take(FEW).collect();
        let root = self.0.iter().find(|&&place| total.get(place) == Some(&highest));
        (few, root.map_or(-1, |&place| place as i64))
    }

    fn grow(&mut self, size: usize) {
        let mut ahead = vec![0];
        self.0.clear();
        while let Some(place) = ahead.pop() {
            if place < size {
                self.0.push(place);
                ahead.extend([2 * place + 2, 2 * place + 1]);
            }
        }
    }
}

/// The highest of several runs at once, which do not wait for each other.
fn highest(total: &[i64]) -> i64 {
    let mut lanes = [i64::MIN; LANES];
    let chunks = total.chunks_exact(LANES);
    let rest = chunks.remainder().iter().copied().max().unwrap_or(i64::MIN);
    for chunk in chunks {
        for (lane, &one) in lanes.iter_mut().zip(chunk) {
            *lane = (*lane).max(one);
        }
    }
    lanes.into_iter().fold(rest, i64::max)
}
