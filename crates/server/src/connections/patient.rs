//! A stream that fails when the other side stops reading.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

/// How many bytes must be written for the blocked time to start again at zero.
const STEP: usize = 64 << 10;

/// A stream whose writes fail with [`io::ErrorKind::TimedOut`] once they have been blocked for `patience` in total
/// without [`STEP`] bytes being written.
///
/// Only time in which a write waits for the other side counts. A connection that has nothing to send may be idle.
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// How long writes have been blocked since the last step, without the current wait.
    blocked: Duration,
    /// How many bytes have been written since the last step.
    moved: usize,
    /// The current wait: when it began, and its deadline.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> Patient<S> {
    pub(super) const fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, blocked: Duration::ZERO, moved: 0, waiting: None }
    }

    /// Turns a blocked write into a timeout once the patience is used up.
    fn judge(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(written) => {
                if let Some((since, _)) = self.waiting.take() {
                    self.blocked += since.elapsed();
                }
                self.moved += written.as_ref().map_or(0, |bytes| *bytes);
                if self.moved >= STEP {
                    (self.moved, self.blocked) = (0, Duration::ZERO);
                }
                Poll::Ready(written)
            }
            Poll::Pending => {
                let left = self.patience.saturating_sub(self.blocked);
                let (_, end) = self.waiting.get_or_insert_with(|| {
                    let now = Instant::now();
                    (now, Box::pin(sleep_until(now + left)))
                });
                end.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        time::{sleep, timeout},
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn writes_fail_when_the_reader_stops() {
        let (ours, _theirs) = duplex(1024);
        let mut stream = Patient::new(ours, PATIENCE);
        let began = Instant::now();
        let error = stream.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed()), (io::ErrorKind::TimedOut, PATIENCE));
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_does_not_count_as_progress() {
        let (ours, mut theirs) = duplex(1024);
        let mut stream = Patient::new(ours, PATIENCE);
        let reader = tokio::spawn(async move {
            // One byte every 5 s.
            for _ in 0..100 {
                sleep(Duration::from_secs(5)).await;
                if theirs.read_u8().await.is_err() {
                    break;
                }
            }
        });
        let ended = timeout(2 * PATIENCE, stream.write_all(&[0; 4096])).await;
        assert_eq!(ended.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
        reader.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_and_an_idle_stream_are_kept() {
        let (ours, mut theirs) = duplex(1024);
        let mut stream = Patient::new(ours, PATIENCE);
        let reader = tokio::spawn(async move {
            let (mut got, mut buffer) = (0, [0; 16 << 10]);
            while let Ok(read @ 1..) = theirs.read(&mut buffer).await {
                got += read;
                // 4 KB/s is slow, but more than 64 KiB in 30 s.
                sleep(Duration::from_millis(read as u64 / 4)).await;
            }
            got
        });
        stream.write_all(&vec![0; 1 << 20]).await.unwrap();
        sleep(10 * PATIENCE).await;
        stream.write_all(&[0; 10]).await.unwrap();
        drop(stream);
        assert_eq!(reader.await.unwrap(), (1 << 20) + 10);
    }
}
