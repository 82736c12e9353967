//! Limits on concurrent exchanges with one destination.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use kalends_remote::not_public;
use tokio::{
    io::AsyncWriteExt as _,
    sync::{Semaphore, mpsc},
    task::JoinSet,
};

use super::support::{Server, Stage, arrival, ok, stand_still};
use crate::{EgressError, Exchange};

/// A server that answers on command, signals each request, and counts the most concurrent ones.
struct Slow {
    server: Server,
    arrived: mpsc::UnboundedReceiver<()>,
    answers: Arc<Semaphore>,
    most: Arc<AtomicUsize>,
}

async fn slow() -> Slow {
    let (arrivals, arrived) = mpsc::unbounded_channel();
    let answers = Arc::new(Semaphore::new(0));
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (gate, highest) = (Arc::clone(&answers), Arc::clone(&most));
    let server = Server::raw(move |mut wire| {
        let (arrivals, gate, now, highest) =
            (arrivals.clone(), Arc::clone(&gate), Arc::clone(&now), Arc::clone(&highest));
        async move {
            while arrival(&mut wire).await.is_some() {
                highest.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                let _ = arrivals.send(());
                gate.acquire().await.unwrap().forget();
                now.fetch_sub(1, SeqCst);
                if wire.write_all(&ok("")).await.is_err() {
                    break;
                }
            }
        }
    })
    .await;
    Slow { server, arrived, answers, most }
}

#[tokio::test]
async fn concurrent_exchanges_with_a_destination_are_limited() {
    let mut slow = slow().await;
    let quick = Server::plain(|_| ok("quick")).await;
    let stage = Stage::with(&[("127.0.0.1", slow.server.port()), ("127.0.0.1", quick.port())], 2, not_public);
    let mut sending = JoinSet::new();
    for _ in 0..7 {
        let (egress, exchange) = (Arc::clone(&stage.egress), stage.get(&slow.server.url("/")));
        sending.spawn(async move { egress.send(exchange).await.map(|reply| reply.status.as_u16()) });
    }
    slow.arrived.recv().await.unwrap();
    slow.arrived.recv().await.unwrap();
    // Other destinations are not held up.
    assert_eq!(stage.fetch(&quick.url("/")).await.unwrap().body, "quick");
    assert_eq!(stage.egress.open_lanes(), 1);
    for _ in 0..5 {
        assert!(slow.arrived.try_recv().is_err(), "two are already running");
        slow.answers.add_permits(1);
        slow.arrived.recv().await.unwrap();
    }
    slow.answers.add_permits(2);
    while let Some(status) = sending.join_next().await {
        assert_eq!(status.unwrap().unwrap(), 200);
    }
    assert_eq!(slow.most.load(SeqCst), 2);
    assert_eq!(stage.egress.open_lanes(), 0, "an idle destination takes no memory");
}

#[tokio::test]
async fn the_deadline_includes_the_wait_for_a_seat() {
    let mut slow = slow().await;
    let stage = Stage::with(&[("127.0.0.1", slow.server.port())], 1, not_public);
    let _still = stand_still();
    let send = |seconds: u64| {
        let deadline = Duration::from_secs(seconds);
        let (egress, exchange) = (Arc::clone(&stage.egress), Exchange { deadline, ..stage.get(&slow.server.url("/")) });
        tokio::spawn(async move { egress.send(exchange).await })
    };
    let first = send(60);
    slow.arrived.recv().await.unwrap();
    let (second, third) = (send(5), send(60));
    // Once every runnable task has run, both are in the queue.
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_secs(6)).await;
    let late = second.await.unwrap().unwrap_err();
    assert!(matches!(late, EgressError::Deadline { within } if within == Duration::from_secs(5)), "{late:?}");
    // The exchange that gave up does not block the queue.
    slow.answers.add_permits(2);
    assert!(first.await.unwrap().is_ok() && third.await.unwrap().is_ok());
    assert_eq!((slow.most.load(SeqCst), stage.egress.open_lanes()), (1, 0));
}

/// Two hosts that redirect to each other do not deadlock, although each has only one seat.
#[tokio::test]
async fn redirects_hold_one_seat_at_a_time() {
    let to = Arc::new(std::sync::OnceLock::<String>::new());
    let back = Arc::clone(&to);
    let first = Server::plain(move |arrived| match arrived.path() {
        "/end" => ok("end"),
        _ => super::support::answer("302 Found", &format!("location: {}\r\n", back.get().unwrap()), b""),
    })
    .await;
    let home = first.url("/end");
    let second =
        Server::plain(move |_| super::support::answer("302 Found", &format!("location: {home}\r\n"), b"")).await;
    to.set(second.url("/")).unwrap();
    let stage = Stage::with(&[("127.0.0.1", first.port()), ("127.0.0.1", second.port())], 1, not_public);
    let mut sending = JoinSet::new();
    for url in [first.url("/"), second.url("/")].iter().cycle().take(20) {
        let (egress, exchange) = (Arc::clone(&stage.egress), Exchange { redirects: 5, ..stage.get(url) });
        sending.spawn(async move { egress.send(exchange).await.unwrap().body });
    }
    while let Some(body) = sending.join_next().await {
        assert_eq!(body.unwrap(), "end");
    }
    assert_eq!(stage.egress.open_lanes(), 0);
}
