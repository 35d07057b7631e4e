//! A list that allocates nothing while it is short, as most are.

use std::ops::{Deref, DerefMut};

/// Up to `N` items in place; all of them in a vector once there are more.
pub(crate) struct Few<T, const N: usize> {
    first: [T; N],
    length: usize,
    all: Vec<T>,
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self {
            first: [T::default(); N],
            length: 0,
            all: Vec::new(),
        }
    }
}

impl<T: Copy, const N: usize> Few<T, N> {
    pub(crate) fn push(&mut self, item: T) {
        if let Some(free) = self.first.get_mut(self.length) {
            *free = item;
            self.length += 1;
            return;
        }
        if self.all.is_empty() {
            self.all.reserve(4 * N);
            self.all.extend_from_slice(&self.first);
        }
        self.all.push(item);
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut few = Self::default();
        items.into_iter().for_each(|item| few.push(item));
        few
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.all.is_empty() {
            &self.first[..self.length]
        } else {
            &self.all
        }
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.all.is_empty() {
            &mut self.first[..self.length]
        } else {
            &mut self.all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn items_stay_in_order_when_they_move() {
        for count in [0, 1, 3, 4, 5, 40] {
            let mut few: Few<usize, 4> = Few::default();
            (0..count).for_each(|item| few.push(item));
            assert_eq!(*few, (0..count).collect::<Vec<_>>());
            few.reverse();
            assert_eq!(*few, (0..count).rev().collect::<Vec<_>>());
        }
    }
}
