//! Sums of pods by topology domain: filters and scores that depend on pods elsewhere.
use crate::buffers::Array;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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

    fn has_label(&self, row: usize) -> bool {
        self.ids.get()[row] >= 0
    }

    /// The sum of the row's own domain.
    pub fn sum(&self, row: usize) -> i64 {
        let (id, sums) = (self.ids.get()[row], self.sums.get());
        sums[if id < 0 { sums.len() - 1 } else { id as usize }]
    }

    /// Whether all sums are 0.
    pub fn are_empty(&self) -> bool {
        self.sums.get().iter().all(|&sum| sum == 0)
    }

    /// The lowest sum of some domains.
    fn lowest(&self, counted: &[u8]) -> i64 {
        let sums = self.sums.get().iter().zip(counted);
        sums.filter(|(_, &counts)| counts != 0).map(|(&sum, _)| sum).min().unwrap_or(0)
    }
}

/// Which sums a row may have.
pub enum Limit {
    /// none that is higher
    AtMost(i64),
    /// At least one pod; if there is none in any domain, a pod that counts itself may be the first.
    Near { counts_itself: bool },
    /// At most so many above the emptiest of the domains that count; that is 0 if there are too few of them.
    Skew { above: i64, counted: Array<u8>, has_enough: bool },
}

impl Limit {
    pub fn named(kind: &str, number: i64, counted: Option<(Array<u8>, i64)>) -> PyResult<Self> {
        match (kind, counted) {
            ("at-most", None) => Ok(Limit::AtMost(number)),
            ("near", None) => Ok(Limit::Near { counts_itself: number != 0 }),
            ("skew", Some((counted, wanted))) => {
                let has_enough = counted.get().iter().filter(|&&counts| counts != 0).count() as i64 >= wanted;
                Ok(Limit::Skew { above: number, counted, has_enough })
            }
            _ => Err(PyValueError::new_err(format!("unknown bound {kind}"))),
        }
    }
}

/// A filter by domain whose sums are kept up to date.
pub struct DomainRule {
    pub domains: Domains,
    pub limit: Limit,
}

/// A filter by domain at one moment.
pub struct DomainCheck<'a> {
    pub domains: &'a Domains,
    pub lowest: i64,
    pub highest: i64,
    pub needs_label: bool,
}

impl DomainCheck<'_> {
    pub fn passes(&self, row: usize) -> bool {
        if self.needs_label && !self.domains.has_label(row) {
            return false;
        }
        (self.lowest..=self.highest).contains(&self.domains.sum(row))
    }
}

/// The rules with the bounds that they have now.
pub fn checks_of(rules: &[DomainRule]) -> Vec<DomainCheck<'_>> {
    let is_alone = |rule: &DomainRule| !matches!(rule.limit, Limit::Near { .. }) || rule.domains.are_empty();
    let are_all_alone = rules.iter().all(is_alone);
    rules
        .iter()
        .map(|DomainRule { domains, limit }| {
            let (lowest, highest, needs_label) = match limit {
                Limit::AtMost(highest) => (i64::MIN, *highest, false),
                Limit::Near { counts_itself } => (i64::from(!(are_all_alone && *counts_itself)), i64::MAX, true),
                Limit::Skew { above, counted, has_enough } => {
                    let emptiest = if *has_enough { domains.lowest(counted.get()) } else { 0 };
                    (i64::MIN, above + emptiest, true)
                }
            };
            DomainCheck { domains, lowest, highest, needs_label }
        })
        .collect()
}
