//! One refresh at a time, and no token lost.

#![expect(clippy::needless_pass_by_value, reason = "a case reads best as a value")]

mod failures;
mod suggestion;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::store::conformance::{NOW, at, profile};
use crate::{AuthSnapshot, Credential, InheritingAuthStore, MemoryAuthStore, ProfileStore, UsageStore};

/// A refresh host whose time passes only while it sleeps.
#[derive(Default)]
struct Host {
    slept: AtomicI64,
    drawn: AtomicU64,
    external: Option<Oauth>,
}

impl RefreshHost for &Host {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(NOW + self.slept.load(Ordering::SeqCst)).unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        let slept = i64::try_from(duration.as_millis()).unwrap();
        self.slept.fetch_add(slept, Ordering::SeqCst);
    }

    fn random(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::SeqCst)
    }

    fn external_login(&self, _: &ProfileId, _: &Oauth) -> Option<Oauth> {
        self.external.clone()
    }
}

type SideEffect = Box<dyn FnOnce() + Send>;
type EndpointAnswer = Result<Option<RenewedLogin>, TokenEndpointError>;

/// A token endpoint with prepared answers, each after a side effect.
#[derive(Default)]
struct Endpoint {
    answers: Mutex<VecDeque<(Option<SideEffect>, EndpointAnswer)>>,
    sent: Mutex<Vec<String>>,
}

impl Endpoint {
    fn answering(answer: EndpointAnswer) -> Self {
        let endpoint = Self::default();
        endpoint.then(None, answer);
        endpoint
    }

    fn then(&self, before: Option<SideEffect>, answer: EndpointAnswer) {
        self.answers.lock().unwrap().push_back((before, answer));
    }

    fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }
}

impl TokenEndpoint for &Endpoint {
    async fn refresh(&self, login: &Oauth) -> EndpointAnswer {
        let sent = login.refresh.as_ref().unwrap().expose().to_owned();
        self.sent.lock().unwrap().push(sent);
        tokio::task::yield_now().await;
        let next = self.answers.lock().unwrap().pop_front();
        let Some((before, answer)) = next else {
            return std::future::pending().await;
        };
        if let Some(before) = before {
            before();
        }
        answer
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of the replies")]
fn renewed(access: &str, seconds: i64) -> EndpointAnswer {
    Ok(Some(RenewedLogin {
        access: Some(Secret::new(access)),
        refresh: Some(Secret::new(format!("{access}-next"))),
        expires: Some(at(seconds)),
        ..RenewedLogin::default()
    }))
}

fn refused(message: &str) -> EndpointAnswer {
    Err(TokenEndpointError::new(message))
}

/// A login whose texts begin with `name`, with that end.
fn entry(name: &str, seconds: i64) -> Value {
    json!({"type": "oauth", "provider": "openai", "access": format!("{name}-access"),
        "refresh": format!("{name}-refresh"), "idToken": format!("{name}-identity"),
        "expires": NOW + seconds * 1_000})
}

fn store(entries: Value) -> MemoryAuthStore {
    let mut snapshot = AuthSnapshot::default();
    for (id, entry) in entries.as_object().unwrap() {
        snapshot
            .upsert(profile(id), Credential::from_json(entry).unwrap())
            .unwrap();
    }
    MemoryAuthStore::new(snapshot, openclaw_cooldown::CooldownConfig::default())
}

fn refresher<'a>(endpoint: &'a Endpoint, host: &'a Host) -> (TempDir, Refresher<&'a Endpoint, &'a Host>) {
    let folder = tempfile::tempdir().unwrap();
    let refresher = Refresher::new(folder.path(), endpoint, host);
    (folder, refresher)
}

async fn ask<S: LoginStore>(store: &S, endpoint: &Endpoint, host: &Host, demand: Demand) -> Answer {
    let (_folder, refresher) = refresher(endpoint, host);
    let config = AuthConfig::default();
    refresher.login(store, &config, &profile("p"), demand).await
}

type Answer = Result<Option<Oauth>, RefreshError>;

fn access(answer: &Answer) -> Option<&str> {
    let login = answer.as_ref().unwrap().as_ref()?;
    Some(login.access.as_ref()?.expose())
}

/// Runs a future that never waits, as with the memory engine.
fn now_or_never<T>(work: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match pin!(work).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

#[tokio::test]
async fn o2_a_usable_login_costs_nothing() {
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let answer = ask(
        &store(json!({"p": entry("old", 301)})),
        &endpoint,
        &host,
        Demand::Usable,
    )
    .await;
    assert_eq!((access(&answer), endpoint.sent().len()), (Some("old-access"), 0));
}

#[tokio::test]
async fn o7_what_is_returned_replaces_what_was_there() {
    let (endpoint, host) = (Endpoint::answering(renewed("new", 3_600)), Host::default());
    let store = store(json!({"p": entry("old", 300)}));
    let answer = ask(&store, &endpoint, &host, Demand::Usable).await;
    assert_eq!(access(&answer), Some("new"));
    let stored = store.stored_login(&profile("p")).unwrap();
    assert_eq!(answer.unwrap(), Some(stored.clone()));
    assert_eq!(stored.refresh.unwrap().expose(), "new-next");
    assert_eq!(
        stored.id_token.unwrap().expose(),
        "old-identity",
        "not returned, so kept"
    );
    assert!(store.snapshot().refreshes.is_empty(), "the right is given back");
}

#[tokio::test]
async fn a_refused_token_is_replaced_even_when_it_has_not_ended() {
    let (endpoint, host) = (Endpoint::answering(renewed("new", 3_600)), Host::default());
    let store = store(json!({"p": entry("old", 3_600)}));
    let refused = || Demand::OtherThan(Secret::new("old-access"));
    assert_eq!(
        access(&ask(&store, &endpoint, &host, refused()).await),
        Some("new")
    );
    // A task that was refused with the old token, too, gets the result of the first.
    assert_eq!(
        access(&ask(&store, &endpoint, &host, refused()).await),
        Some("new")
    );
    assert_eq!(endpoint.sent().len(), 1);
}

#[tokio::test]
async fn o4_many_tasks_make_one_call() {
    let (endpoint, host) = (Endpoint::answering(renewed("new", 3_600)), Host::default());
    let store = store(json!({"p": entry("old", 0)}));
    let (_folder, refresher) = refresher(&endpoint, &host);
    let (config, id) = (AuthConfig::default(), profile("p"));
    let ask = || refresher.login(&store, &config, &id, Demand::Usable);
    let answers = tokio::join!(ask(), ask(), ask(), ask());
    for answer in [answers.0, answers.1, answers.2, answers.3] {
        assert_eq!(access(&answer), Some("new"));
    }
    assert_eq!(endpoint.sent(), ["old-refresh"]);
    assert_eq!(refresher.queues.lock().unwrap().len(), 1, "queues do not pile up");
}

#[tokio::test]
async fn o7_o10_o13_what_cannot_be_refreshed_yields_nothing() {
    let mut blank = entry("old", 0);
    blank["refresh"] = json!(" ");
    let token = json!({"type": "token", "provider": "openai", "token": "t", "expires": NOW});
    for (entries, answers) in [
        (json!({}), 0),
        (json!({"p": token}), 0),
        (json!({"p": blank}), 0),
        (json!({"p": entry("old", 0)}), 1),
    ] {
        let (endpoint, host) = (Endpoint::answering(Ok(None)), Host::default());
        let answer = ask(&store(entries.clone()), &endpoint, &host, Demand::Usable).await;
        assert_eq!(
            (access(&answer), endpoint.sent().len()),
            (None, answers),
            "{entries}"
        );
    }
}

#[tokio::test]
async fn o3_o9_o11_the_main_agents_copy_is_used_and_kept_fresh() {
    let shared = |name: &str, seconds| {
        let mut entry = entry(name, seconds);
        entry["accountId"] = json!("account");
        entry
    };
    let inheriting = |main: Value, agent: Value| {
        InheritingAuthStore::new(Arc::new(store(json!({"p": main}))), store(json!({"p": agent})))
    };
    // O3: the main agent's lasts longer.
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let both = inheriting(shared("main", 3_600), shared("own", 0));
    assert_eq!(
        access(&ask(&both, &endpoint, &host, Demand::Usable).await),
        Some("main-access")
    );
    // A login of another account does not count, and the agent's own is refreshed; main keeps the other account's.
    let mut stranger = entry("main", 3_600);
    stranger["accountId"] = json!("stranger");
    let (endpoint, host) = (Endpoint::answering(renewed("new", 3_600)), Host::default());
    let both = inheriting(stranger, shared("own", 0));
    assert_eq!(
        access(&ask(&both, &endpoint, &host, Demand::Usable).await),
        Some("new")
    );
    assert_eq!(
        both.main()
            .unwrap()
            .stored_login(&profile("p"))
            .unwrap()
            .access
            .unwrap()
            .expose(),
        "main-access"
    );
    // O9: the agent's own is fresher than main's copy, and main gets the new one.
    let (endpoint, host) = (Endpoint::answering(renewed("new", 3_600)), Host::default());
    let both = inheriting(shared("main", -9), shared("own", 0));
    assert_eq!(
        access(&ask(&both, &endpoint, &host, Demand::Usable).await),
        Some("new")
    );
    assert_eq!(endpoint.sent(), ["own-refresh"]);
    for login in [
        both.main().unwrap().stored_login(&profile("p")),
        both.agent().stored_login(&profile("p")),
    ] {
        assert_eq!(login.unwrap().access.unwrap().expose(), "new");
    }
    // I9: what main owns is refreshed and kept there, and the agent's old copy is not sent.
    let (endpoint, host) = (Endpoint::answering(renewed("new", 3_600)), Host::default());
    let both = inheriting(shared("main", 0), shared("own", -9));
    assert_eq!(
        access(&ask(&both, &endpoint, &host, Demand::Usable).await),
        Some("new")
    );
    assert_eq!(endpoint.sent(), ["main-refresh"]);
    assert_eq!(
        both.agent()
            .stored_login(&profile("p"))
            .unwrap()
            .access
            .unwrap()
            .expose(),
        "own-access"
    );
    assert!(
        both.main().unwrap().snapshot().refreshes.is_empty() && both.agent().snapshot().refreshes.is_empty()
    );
    // O11: the agent's refresh fails, and main got a fresh one meanwhile.
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let both = Arc::new(inheriting(shared("main", -9), shared("own", 0)));
    let main = Arc::clone(both.main().unwrap());
    let before: SideEffect = Box::new(move || {
        let login = Credential::from_json(&shared("fresh", 3_600)).unwrap();
        now_or_never(main.upsert(profile("p"), login, at(0))).unwrap();
    });
    endpoint.then(Some(before), refused("connection reset"));
    assert_eq!(
        access(&ask(&*both, &endpoint, &host, Demand::Usable).await),
        Some("fresh-access")
    );
}

#[tokio::test]
async fn o7_x2_a_login_that_another_program_has_saves_the_call() {
    let external = |entry: Value| store(json!({"p": entry})).stored_login(&profile("p"));
    for (found, calls) in [
        (external(entry("external", 3_600)), 0),
        (external(entry("external", 0)), 1),
        (None, 1),
    ] {
        let endpoint = Endpoint::answering(renewed("new", 3_600));
        let host = Host {
            external: found,
            ..Host::default()
        };
        let answer = ask(
            &store(json!({"p": entry("old", 0)})),
            &endpoint,
            &host,
            Demand::Usable,
        )
        .await;
        assert!(access(&answer).is_some());
        assert_eq!(endpoint.sent().len(), calls);
    }
}

#[tokio::test]
async fn a_dropped_refresh_gives_its_lease_back() {
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let store = store(json!({"p": entry("old", 0)}));
    let (folder, refresher) = refresher(&endpoint, &host);
    let (config, id) = (AuthConfig::default(), profile("p"));
    {
        let mut ask = pin!(refresher.login(&store, &config, &id, Demand::Usable));
        poll_fn(|context| {
            assert!(ask.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        assert_eq!(store.snapshot().refreshes.len(), 1);
    }
    assert!(store.snapshot().refreshes.is_empty());
    assert_eq!(
        std::fs::read_dir(folder.path().join("locks/oauth-refresh"))
            .unwrap()
            .count(),
        0
    );
}
