//! A wire between a server and its database that can be cut.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// Forwards connections while it is whole. It ends with this value.
pub(crate) struct Proxy {
    address: SocketAddr,
    whole: watch::Sender<bool>,
}

impl Proxy {
    /// A whole proxy in front of `upstream`.
    pub(crate) async fn before(upstream: SocketAddr) -> Self {
        let mut listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (whole, mut watched) = watch::channel(true);
        tokio::spawn(async move {
            loop {
                forward_all(&listener, upstream, &watched).await;
                // Without a listener a call is refused, as where no server runs.
                drop(listener);
                if watched.wait_for(|whole| *whole).await.is_err() {
                    return;
                }
                listener = TcpListener::bind(address).await.unwrap();
            }
        });
        Self { address, whole }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Breaks all connections, and turns new ones away.
    pub(crate) fn cut(&self) {
        self.whole.send_replace(false);
    }

    pub(crate) fn mend(&self) {
        self.whole.send_replace(true);
    }
}

/// Forwards what `listener` accepts until the wire is cut.
async fn forward_all(listener: &TcpListener, upstream: SocketAddr, watched: &watch::Receiver<bool>) {
    let cut = || {
        let mut watched = watched.clone();
        async move { drop(watched.wait_for(|whole| !whole).await) }
    };
    let ended = cut();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            () = &mut ended => return,
            accepted = listener.accept() => {
                let (caller, _) = accepted.unwrap();
                let ended = cut();
                tokio::spawn(async move {
                    tokio::select! {
                        () = forward(caller, upstream) => {}
                        () = ended => {}
                    }
                });
            }
        }
    }
}

async fn forward(mut caller: TcpStream, upstream: SocketAddr) {
    if let Ok(mut server) = TcpStream::connect(upstream).await {
        // Either side may break off; that is what this is for.
        let _ = copy_bidirectional(&mut caller, &mut server).await;
    }
}
