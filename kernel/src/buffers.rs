//! Arrays of NumPy as slices. An array is held for as long as its buffer is; nothing of it is copied.
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A one-dimensional contiguous array that Python owns.
pub struct Array<T: Element> {
    buffer: PyBuffer<T>,
    first: *mut T,
    length: usize,
}

// An array is used by functions alone that Python calls, with the interpreter held throughout: by one thread at a time.
// A scheduler that waits for an extender goes on in another thread.
unsafe impl<T: Element> Send for Array<T> {}
unsafe impl<T: Element> Sync for Array<T> {}

impl<T: Element> Array<T> {
    /// The array as it is now. The caller holds the interpreter, so that no other thread writes to it.
    pub fn get(&self) -> &[T] {
        unsafe { std::slice::from_raw_parts(self.first, self.length) }
    }

    /// Writes one item of an array that is `writable`.
    pub fn set(&self, index: usize, value: T) {
        assert!(index < self.length);
        unsafe { *self.first.add(index) = value }
    }

    /// Fails if the array is read-only or shorter than `size`.
    pub fn writable(self, size: usize) -> PyResult<Self> {
        if self.buffer.readonly() || self.length < size {
            return Err(PyValueError::new_err("the array must be writable and have an item for each row"));
        }
        Ok(self)
    }

    /// Fails if the array is shorter than `size`.
    pub fn readable(self, size: usize) -> PyResult<Self> {
        if self.length < size {
            return Err(PyValueError::new_err("the array must have an item for each row"));
        }
        Ok(self)
    }
}

impl<'py, T: Element> FromPyObject<'py> for Array<T> {
    fn extract_bound(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<T>::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("the array must be contiguous"));
        }
        let (first, length) = (buffer.buf_ptr().cast::<T>(), buffer.item_count());
        if length == 0 {
            return Ok(Array { buffer, first: std::ptr::NonNull::dangling().as_ptr(), length });
        }
        Ok(Array { buffer, first, length })
    }
}
