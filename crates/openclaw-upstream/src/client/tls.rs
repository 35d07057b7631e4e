//! TLS settings with the machine's certificates, loaded for the first encrypted connection.

use std::error::Error;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::sync::OnceCell;

/// The settings of encrypted connections. Reading a machine's certificates takes longer than starting, and a gateway in
/// front of local models needs none, so they wait for the first connection; a failure is not remembered.
#[derive(Debug, Clone, Default)]
pub(super) struct Tls(Arc<OnceCell<Configs>>);

#[derive(Debug)]
struct Configs {
    provider: Arc<ClientConfig>,
    proxy: Arc<ClientConfig>,
}

impl Tls {
    /// Towards providers, which may speak HTTP/2.
    pub(super) async fn to_provider(&self) -> Result<Arc<ClientConfig>, TlsError> {
        Ok(Arc::clone(&self.configs().await?.provider))
    }

    /// Towards proxies, which are told where to connect in HTTP/1.1.
    pub(super) async fn to_proxy(&self) -> Result<Arc<ClientConfig>, TlsError> {
        Ok(Arc::clone(&self.configs().await?.proxy))
    }

    async fn configs(&self) -> Result<&Configs, TlsError> {
        let load = || async {
            let loading = tokio::task::spawn_blocking(ClientConfig::with_platform_verifier);
            let base = loading.await.map_err(TlsError::of)?.map_err(TlsError::of)?;
            let mut provider = base.clone();
            provider.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
            Ok(Configs {
                provider: Arc::new(provider),
                proxy: Arc::new(base),
            })
        };
        self.0.get_or_try_init(load).await
    }
}

/// The machine's certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the machine's CA certificates; install them, or name a file of them in SSL_CERT_FILE")]
pub(super) struct TlsError(#[source] Box<dyn Error + Send + Sync>);

impl TlsError {
    fn of(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}
