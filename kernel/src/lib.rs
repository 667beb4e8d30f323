//! The inner loops of Seatrial's scheduler over the NumPy columns of one pod shape.
//!
//! Python keeps the columns (see `seatrial.scheduler.evaluator`) and decides what is computed here. The kernel writes
//! changed rows into the same arrays, so that Python may go on with them at any time.
mod buffers;
mod domains;
mod rules;
mod scores;

use buffers::Array;
use domains::{checks_of, DomainCheck, DomainRule, Domains, Limit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rules::{Amounts, FitRule, ScoreRule, Share, Strategy};
use scores::{outside, ByDomain, ByRow, Normalize, Scorers, Walk};

/// A filter by topology domain: ids by row, sums by domain, the lowest and highest sum that pass, and whether the
/// label must be there.
type CheckArrays = (Array<i32>, Array<i64>, i64, i64, bool);
/// A filter whose bounds follow from sums that are kept up to date: ids, sums, kind of the bound, its number, whether
/// the label must be there, and for a skew the domains that count and how many there must be.
type RuleArrays = (Array<i32>, Array<i64>, String, i64, Option<(Array<u8>, i64)>);
/// Scores of a plugin, how they are normalized, and the plugin's weight.
type Weighted<T> = (T, String, i64);
/// Sums by domain and the factor of each.
type Labelled = Vec<(Array<i32>, Array<i64>, i64)>;

/// All that a scheduling cycle asks besides the columns.
struct Plan {
    rules: Vec<DomainRule>,
    scorers: Scorers,
}

/// One resource of NodeResourcesFit: offered, used, asked for, and whether devices may stand in.
type WantedArrays = (Array<i64>, Array<i64>, i64, bool);
/// One resource of a score: offered, used, weight, asked for.
type ShareArrays = (Array<i64>, Array<i64>, i64, i64);
type ScoreArrays = (Array<i64>, String, Vec<i64>, Vec<ShareArrays>);
type Scored<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, i64);
/// Rows found, None for all that were visited; nodes visited; and the scores with whether a plugin had none but zeros.
type Cycle<'py> = (Option<Bound<'py, PyBytes>>, usize, Option<(Scored<'py>, bool)>);

/// The rows that a search has found, with their local sums; the memory is used again by the next one.
#[derive(Default)]
struct Found {
    rows: Vec<i64>,
    sums: Vec<i64>,
}

/// What is known of all rows for one pod shape, and which of them pass, by their place in the order of the search.
#[pyclass]
struct ShapeRows {
    #[pyo3(get)]
    order: Py<PyAny>,
    rows: Vec<i64>,
    place_of: Vec<i64>,
    passing: Vec<u64>,
    size: usize,
    blocked: Array<u8>,
    local: Array<i64>,
    /// The local sums once more, by place: rows that are searched one after the other are added up that way.
    sums: Vec<i64>,
    blocking: Vec<Array<i32>>,
    adding: Vec<(Array<i64>, i64)>,
    fit: Option<FitRule>,
    scores: Vec<ScoreRule>,
    plan: Option<Plan>,
    found: Found,
    walk: Walk,
}

#[pymethods]
impl ShapeRows {
    #[new]
    fn new(
        order: Bound<'_, PyAny>,
        blocked: Array<u8>,
        local: Array<i64>,
        blocking: Vec<Array<i32>>,
        adding: Vec<(Array<i64>, i64)>,
    ) -> PyResult<Self> {
        let rows: Vec<i64> = order.extract::<Array<i64>>()?.get().to_vec();
        let size = blocked.get().len();
        let mut place_of = vec![-1; size];
        for (place, &row) in rows.iter().enumerate() {
            *place_of.get_mut(row as usize).ok_or_else(outside)? = place as i64;
        }
        let mut made = ShapeRows {
            order: order.unbind(),
            passing: vec![0; rows.len().div_ceil(64)],
            sums: vec![0; rows.len()],
            rows,
            place_of,
            size,
            blocked: blocked.writable(size)?,
            local: local.writable(size)?,
            blocking: blocking.into_iter().map(|codes| codes.readable(size)).collect::<PyResult<_>>()?,
            adding: adding.into_iter().map(|(raw, weight)| Ok((raw.readable(size)?, weight))).collect::<PyResult<_>>()?,
            fit: None,
            scores: Vec::new(),
            plan: None,
            found: Found::default(),
            walk: Walk::default(),
        };
        for place in 0..made.rows.len() {
            let row = made.rows[place] as usize;
            made.set_passing(place, made.blocked.get()[row] == 0);
            made.sums[place] = made.local.get()[row];
        }
        Ok(made)
    }

    /// Adds the filter of NodeResourcesFit to what `update` computes.
    fn add_fit(&mut self, codes: Array<i32>, offered: Array<i64>, used: Array<i64>, wanted: Vec<WantedArrays>) -> PyResult<()> {
        let size = self.size;
        let wanted = wanted
            .into_iter()
            .map(|(offered, used, amount, by_devices)| Ok((Amounts::new(offered, used, size)?, amount, by_devices)))
            .collect::<PyResult<_>>()?;
        self.fit = Some(FitRule { codes: codes.writable(size)?, pods: Amounts::new(offered, used, size)?, wanted });
        Ok(())
    }

    /// Adds the score of a plugin to what `update` computes.
    fn add_score(&mut self, score: ScoreArrays) -> PyResult<()> {
        let (raw, strategy, line, shares) = score;
        let size = self.size;
        let shares = shares
            .into_iter()
            .map(|(offered, used, weight, request)| Ok(Share { amounts: Amounts::new(offered, used, size)?, weight, request }))
            .collect::<PyResult<_>>()?;
        self.scores.push(ScoreRule { raw: raw.writable(size)?, strategy: Strategy::named(&strategy, line)?, shares });
        Ok(())
    }

    /// Computes changed rows, given as entries of the table's log; false if a score is out of range.
    fn update(&mut self, entries: Vec<u64>) -> PyResult<bool> {
        let mut is_in_range = true;
        for entry in entries {
            let row = (entry >> 1) as usize;
            if row >= self.size {
                return Err(outside());
            }
            if let Some(fit) = &self.fit {
                fit.update(row);
            }
            for score in &self.scores {
                is_in_range &= score.update(row);
            }
            self.join(row);
        }
        Ok(is_in_range)
    }

    /// A row has changed: its node passes or does not, and may have another local sum.
    fn change(&mut self, row: usize, passes: bool) {
        if let Some(&place) = self.place_of.get(row) {
            if place >= 0 {
                self.set_passing(place as usize, passes);
                self.sums[place as usize] = self.local.get()[row];
            }
        }
    }

    /// The first `limit` rows that pass from a place on, and how many nodes are visited until one more is met.
    fn find<'py>(
        &mut self,
        py: Python<'py>,
        start: usize,
        limit: usize,
        checks: Vec<CheckArrays>,
    ) -> PyResult<(Bound<'py, PyBytes>, usize)> {
        let domains = checks
            .into_iter()
            .map(|(ids, sums, lowest, highest, needs_label)| {
                Ok((Domains::new(ids, sums, self.size)?, lowest, highest, needs_label))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let checks: Vec<_> = domains
            .iter()
            .map(|(domains, lowest, highest, needs_label)| DomainCheck {
                domains,
                lowest: *lowest,
                highest: *highest,
                needs_label: *needs_label,
            })
            .collect();
        let mut found = std::mem::take(&mut self.found);
        let visited = self.search(start, limit, &checks, &mut found);
        let listed = bytes(py, &found.rows);
        self.found = found;
        Ok((listed, visited))
    }

    /// Keeps what `schedule` asks besides the columns: filters by domain, scores, and what all nodes get.
    fn plan(
        &mut self,
        rules: Vec<RuleArrays>,
        settled: i64,
        by_row: Vec<Weighted<Array<i64>>>,
        by_domain: Vec<Weighted<Labelled>>,
    ) -> PyResult<()> {
        let rules = rules
            .into_iter()
            .map(|(ids, sums, kind, number, counted)| {
                Ok(DomainRule {
                    domains: Domains::new(ids, sums, self.size)?,
                    limit: Limit::named(&kind, number, counted)?,
                })
            })
            .collect::<PyResult<_>>()?;
        let scorers = self.scorers(settled, by_row, by_domain, Vec::new())?;
        self.plan = Some(Plan { rules, scorers });
        Ok(())
    }

    /// A whole cycle: brings changed rows up to date, searches, scores and chooses. The scores are None if fewer than
    /// two nodes pass; everything is None if a score is out of range.
    fn schedule<'py>(
        &mut self,
        py: Python<'py>,
        entries: Vec<u64>,
        start: usize,
        limit: usize,
    ) -> PyResult<Option<Cycle<'py>>> {
        let is_in_range = self.update(entries)?;
        let Some(plan) = &self.plan else { return Ok(None) };
        if !is_in_range {
            return Ok(None);
        }
        let mut found = std::mem::take(&mut self.found);
        let is_whole = plan.rules.is_empty() && self.all_pass(start, limit);
        let visited = if is_whole {
            self.take(start, limit, plan.scorers.reads_rows(), &mut found)
        } else {
            self.search(start, limit, &checks_of(&plan.rules), &mut found)
        };
        let Found { rows, sums } = &mut found;
        let listed = (!is_whole).then(|| bytes(py, rows));
        let scored = match sums.len() {
            0 | 1 => None,
            _ if !plan.scorers.add(sums, rows) => return Ok(None),
            _ => {
                let (places, root) = self.walk.best(sums);
                Some(((bytes(py, sums), bytes(py, &places), root), plan.scorers.is_idle()))
            }
        };
        self.found = found;
        Ok(Some((listed, visited, scored)))
    }

    /// The totals of rows, the places of the best ones, and the place that upstream takes; None if a score is out of
    /// range. Plugins give raw scores by row or by domain, or normalized ones parallel to the rows.
    fn totals<'py>(
        &mut self,
        py: Python<'py>,
        rows: Array<i64>,
        settled: i64,
        by_row: Vec<Weighted<Array<i64>>>,
        by_domain: Vec<Weighted<Labelled>>,
        parallel: Vec<(Array<i64>, i64)>,
    ) -> PyResult<Option<Scored<'py>>> {
        let (rows, local) = (rows.get(), self.local.get());
        if rows.iter().any(|&row| row < 0 || row as usize >= self.size) {
            return Err(outside());
        }
        let mut total: Vec<i64> = rows.iter().map(|&row| local[row as usize]).collect();
        if !self.scorers(settled, by_row, by_domain, parallel)?.add(&mut total, rows) {
            return Ok(None);
        }
        let (places, root) = self.walk.best(&total);
        Ok(Some((bytes(py, &total), bytes(py, &places), root)))
    }
}

impl ShapeRows {
    fn scorers(
        &self,
        settled: i64,
        by_row: Vec<Weighted<Array<i64>>>,
        by_domain: Vec<Weighted<Labelled>>,
        parallel: Vec<(Array<i64>, i64)>,
    ) -> PyResult<Scorers> {
        let by_row = by_row
            .into_iter()
            .map(|(raw, kind, weight)| {
                Ok(ByRow { raw: raw.readable(self.size)?, normalize: Normalize::named(&kind)?, weight })
            })
            .collect::<PyResult<_>>()?;
        let by_domain = by_domain
            .into_iter()
            .map(|(labelled, kind, weight)| {
                let parts = labelled
                    .into_iter()
                    .map(|(ids, sums, factor)| Ok((Domains::new(ids, sums, self.size)?, factor)))
                    .collect::<PyResult<_>>()?;
                Ok(ByDomain { parts, normalize: Normalize::named(&kind)?, weight })
            })
            .collect::<PyResult<_>>()?;
        Ok(Scorers { settled, by_row, by_domain, parallel })
    }

    /// Finds the first `limit` rows that pass; how many nodes are visited until one more is met.
    fn search(&self, start: usize, limit: usize, checks: &[DomainCheck], found: &mut Found) -> usize {
        let size = self.rows.len();
        found.rows.clear();
        found.sums.clear();
        if let Some(place) = self.collect(start, size, limit, checks, found) {
            return place - start;
        }
        let last = self.collect(0, start, limit, checks, found);
        last.map_or(size, |place| place + size - start)
    }

    /// Whether so many nodes from a place on pass, and the one after them, without a turn to the first place.
    fn all_pass(&self, start: usize, limit: usize) -> bool {
        let (first, last) = (start / 64, (start + limit) / 64);
        if start + limit >= self.rows.len() {
            return false;
        }
        (first..=last).all(|word| {
            let before = if word == first { !(!0 << (start % 64)) } else { 0 };
            let after = if word == last { !1 << ((start + limit) % 64) } else { 0 };
            self.passing[word] | before | after == !0
        })
    }

    /// Takes so many rows from a place on, which all pass; their numbers only if these are read.
    fn take(&self, start: usize, limit: usize, with_rows: bool, found: &mut Found) -> usize {
        let places = start..start + limit;
        found.rows.clear();
        if with_rows {
            found.rows.extend_from_slice(&self.rows[places.clone()]);
        }
        found.sums.clear();
        found.sums.extend_from_slice(&self.sums[places]);
        limit
    }

    fn set_passing(&mut self, place: usize, passes: bool) {
        let bit = 1 << (place % 64);
        if passes {
            self.passing[place / 64] |= bit;
        } else {
            self.passing[place / 64] &= !bit;
        }
    }

    /// Writes what follows from the columns of a row.
    fn join(&mut self, row: usize) {
        let is_blocked = self.blocking.iter().any(|codes| codes.get()[row] != 0);
        let local = self.adding.iter().map(|(raw, weight)| raw.get()[row] * weight).sum();
        self.blocked.set(row, u8::from(is_blocked));
        self.local.set(row, local);
        self.change(row, !is_blocked);
    }

    /// Collects passing rows between two places; the place of the first one that is too many.
    fn collect(
        &self,
        first: usize,
        end: usize,
        limit: usize,
        checks: &[DomainCheck],
        found: &mut Found,
    ) -> Option<usize> {
        let mut word = first / 64;
        while word * 64 < end {
            let mut bits = self.passing[word];
            if word == first / 64 {
                bits &= !0 << (first % 64);
            }
            let places = word * 64..word * 64 + 64;
            if bits == !0 && checks.is_empty() && places.end <= end && found.rows.len() + 64 <= limit {
                found.rows.extend_from_slice(&self.rows[places.clone()]);
                found.sums.extend_from_slice(&self.sums[places]);
                word += 1;
                continue;
            }
            while bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if place >= end {
                    return None;
                }
                let row = self.rows[place];
                if !checks.iter().all(|check| check.passes(row as usize)) {
                    continue;
                }
                if found.rows.len() == limit {
                    return Some(place);
                }
                found.rows.push(row);
                found.sums.push(self.sums[place]);
            }
            word += 1;
        }
        None
    }
}

/// Numbers as Python's bytes, for an array without another copy.
fn bytes<'py>(py: Python<'py>, numbers: &[i64]) -> Bound<'py, PyBytes> {
    let length = std::mem::size_of_val(numbers);
    PyBytes::new(py, unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), length) })
}

#[pymodule]
fn seatrial_kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("INTERFACE", 3)?;
    module.add_class::<ShapeRows>()
}
