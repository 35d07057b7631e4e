//! Restricts the admin surface to this machine, unless a setting opens it to every client that has the token.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use openclaw_config::AdminSetting;

use crate::http::{ApiError, RequestContext};

/// Whether clients have to show a token. Where they do, a client that gets as far as the guard has shown it, or is given the page
/// alone, which holds nothing then but the question for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Needed,
    None,
}

/// Refuses whom the setting refuses.
pub(super) async fn own_machine(served: RequestContext, request: Request, next: Next) -> Response {
    let generation = &served.generation;
    let connection = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = connection.map(|ConnectInfo(peer)| peer.ip());
    let token = if generation.token.is_some() {
        Token::Needed
    } else {
        Token::None
    };
    match refusal(generation.config.failover.admin, peer, token) {
        None => next.run(request).await,
        Some(error) => error.into_response(),
    }
}

/// Why a peer may not use the admin surface. One whose address is not known counts as one of another machine.
fn refusal(setting: AdminSetting, peer: Option<IpAddr>, token: Token) -> Option<ApiError> {
    let is_own = peer.is_some_and(|peer| peer.to_canonical().is_loopback());
    match (setting, token) {
        (AdminSetting::Off, _) => Some(ApiError::no_path()),
        (AdminSetting::Token, Token::Needed) => None,
        (AdminSetting::Local, _) | (AdminSetting::Token, Token::None) => {
            (!is_own).then(ApiError::not_from_here)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_use_the_admin_surface() {
        use AdminSetting::{Local, Off, Token as WithToken};
        const AWAY: &str = "admin_is_local";
        for (setting, token, peer, code) in [
            (Local, Token::None, "127.0.0.1", None),
            (Local, Token::Needed, "127.9.9.9", None),
            (Local, Token::Needed, "::1", None),
            (Local, Token::Needed, "::ffff:127.0.0.1", None),
            (Local, Token::Needed, "192.168.1.7", Some(AWAY)),
            (Local, Token::Needed, "", Some(AWAY)),
            (WithToken, Token::Needed, "192.168.1.7", None),
            (WithToken, Token::None, "192.168.1.7", Some(AWAY)),
            (WithToken, Token::None, "127.0.0.1", None),
            (Off, Token::Needed, "127.0.0.1", Some("not_found")),
        ] {
            let refused = refusal(setting, peer.parse().ok(), token);
            let told = refused.map(|error| error.code());
            assert_eq!(told, code, "{setting:?} {token:?} {peer}");
        }
    }
}
