//! Totals of feasible rows: the local sum and scores that are normalized over the feasible rows.
use crate::buffers::Array;
use crate::domains::Domains;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

const MAX_NODE_SCORE: i64 = 100;

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
    /// The totals of rows; None if a score is not in the range of scores.
    pub fn totals(&self, local: &[i64], rows: &[i64]) -> Option<Vec<i64>> {
        let mut total: Vec<i64> = rows.iter().map(|&row| local[row as usize] + self.settled).collect();
        let mut is_in_range = true;
        for ByRow { raw, normalize, weight } in &self.by_row {
            let scores = rows.iter().map(|&row| raw.get()[row as usize]).collect();
            is_in_range &= add_normalized(&mut total, scores, *normalize, *weight);
        }
        for ByDomain { parts, normalize, weight } in &self.by_domain {
            let mut scores = vec![0; rows.len()];
            for (domains, factor) in parts {
                scores.iter_mut().zip(rows).for_each(|(score, &row)| *score += domains.sum(row as usize) * factor);
            }
            is_in_range &= add_normalized(&mut total, scores, *normalize, *weight);
        }
        for (scores, weight) in &self.parallel {
            let scores = scores.get().get(..rows.len())?.to_vec();
            is_in_range &= add_normalized(&mut total, scores, Normalize::Done, *weight);
        }
        is_in_range.then_some(total)
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

/// The places of the highest total, ascending, and the one of them that upstream's heap has at its root.
pub fn best(total: &[i64]) -> (Vec<i64>, i64) {
    let mut highest = i64::MIN;
    let mut places = Vec::with_capacity(total.len());
    for (place, &one) in total.iter().enumerate() {
        if one > highest {
            highest = one;
            places.clear();
        }
        if one == highest {
            places.push(place as i64);
        }
    }
    let root = match places.first() {
        // The first place is the first of the walk, and in an even cluster most nodes are equal to it.
        Some(0) => 0,
        _ => places.iter().copied().min_by_key(|&place| preorder(place)).unwrap_or(-1),
    };
    (places, root)
}

/// The rank of a place of a binary heap in the walk parent, left, right: the path from the root, padded.
fn preorder(place: i64) -> i64 {
    let number = place + 1;
    let depth = 64 - i64::from(number.leading_zeros());
    ((number << (40 - depth)) << 6) | depth
}
