//! Totals of feasible rows: the local sum and scores that are normalized over the feasible rows.
use crate::buffers::Array;
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

/// Numbers by topology domain: the number of each row's value of a label, negative without one, and a sum for each
/// value. There is one place more than there are values: rows without the label see it.
pub struct Domains {
    ids: Array<i32>,
    sums: Array<i64>,
}

impl Domains {
    pub fn new(ids: Array<i32>, sums: Array<i64>, size: usize) -> PyResult<Self> {
        Ok(Domains { ids: ids.readable(size)?, sums: sums.readable(1)? })
    }

    pub fn has_label(&self, row: usize) -> bool {
        self.ids.get()[row] >= 0
    }

    /// The sum of the row's own domain.
    pub fn sum(&self, row: usize) -> i64 {
        let (id, sums) = (self.ids.get()[row], self.sums.get());
        sums[if id < 0 { sums.len() - 1 } else { id as usize }]
    }
}

pub fn outside() -> PyErr {
    PyIndexError::new_err("a row or domain is outside of its column")
}

/// Normalizes scores and adds them to the totals; false if one is not in the range of scores.
pub fn add_normalized(total: &mut [i64], mut scores: Vec<i64>, normalize: Normalize, weight: i64) -> bool {
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
    let root = places.iter().copied().min_by_key(|&place| preorder(place)).unwrap_or(-1);
    (places, root)
}

/// The rank of a place of a binary heap in the walk parent, left, right: the path from the root, padded.
fn preorder(place: i64) -> i64 {
    let number = place + 1;
    let depth = 64 - i64::from(number.leading_zeros());
    ((number << (40 - depth)) << 6) | depth
}
