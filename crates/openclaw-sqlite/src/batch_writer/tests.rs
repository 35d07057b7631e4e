use std::sync::mpsc::channel;

use super::*;

struct Recorder {
    batches: Sender<Vec<u32>>,
    /// Holds the thread back until the test has queued everything.
    start: Receiver<()>,
}

impl BatchWorker for Recorder {
    type Command = u32;

    fn on_start(&mut self) {
        self.start.recv().unwrap();
    }

    fn perform(&mut self, batch: Vec<u32>) {
        self.batches.send(batch).unwrap();
    }
}

#[test]
fn commands_that_wait_together_share_a_batch_and_dropping_finishes_them() {
    for options in [
        BatchOptions::new("test", 3),
        BatchOptions::new("test", 3)
            .with_gather(Duration::from_mins(10))
            .with_max_queued(7),
    ] {
        let ((batches, performed), (started, start)) = (channel(), channel());
        let is_bounded = options.max_queued.is_some();
        let writer = BatchWriter::start(options, Recorder { batches, start }).unwrap();
        for command in 0..7 {
            writer.send(command).unwrap();
        }
        if is_bounded {
            assert!(matches!(writer.send(7), Err(TrySendError::Full(7))));
        }
        started.send(()).unwrap();
        if is_bounded {
            // Ends the gathering of each batch.
            let thread = writer.thread.as_ref().unwrap().thread().clone();
            let mut seen = 0;
            while seen < 7 {
                thread.unpark();
                seen += performed.try_recv().map_or(0, |batch: Vec<u32>| batch.len());
                std::thread::yield_now();
            }
            drop(writer);
        } else {
            drop(writer);
            let batches: Vec<_> = performed.iter().collect();
            assert_eq!(batches, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
        }
    }
}
