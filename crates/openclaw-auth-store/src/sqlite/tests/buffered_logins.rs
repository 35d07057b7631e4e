//! New tokens while the file cannot be written.

use std::sync::Mutex;

use openclaw_classify::Reason;
use serde_json::json;

use openclaw_sqlite::open_read_write;

use super::*;
use crate::store::conformance::NOW;
use crate::{
    AuthConfig, Demand, LoginStore, Oauth, RefreshHost, Refresher, RenewedLogin, Secret, TokenEndpoint,
    TokenEndpointError,
};

/// A provider with a side effect during the call, and tokens that fill pages.
struct RotatingEndpoint<'a>(Mutex<Option<Box<dyn FnOnce() + Send + 'a>>>);

impl TokenEndpoint for RotatingEndpoint<'_> {
    async fn refresh(&self, _: &Oauth) -> Result<Option<RenewedLogin>, TokenEndpointError> {
        let meanwhile = self.0.lock().unwrap().take();
        meanwhile.expect("one call")();
        Ok(Some(RenewedLogin {
            access: Some(Secret::new("new-access".repeat(3_000))),
            refresh: Some(Secret::new("new-refresh")),
            expires: Some(at(36_000)),
            ..RenewedLogin::default()
        }))
    }
}

struct Host;

impl RefreshHost for Host {
    fn now(&self) -> Timestamp {
        at(0)
    }

    /// Never returns: a call is answered before its time is over.
    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }

    fn random(&self) -> u64 {
        7
    }
}

/// A file with a login that ends now, and the store's connection to it.
async fn with_login() -> (TempDir, PathBuf) {
    let (folder, store) = with_profiles().await;
    let login = json!({"type": "oauth", "provider": "openai", "access": "old-access", "refresh": "old-refresh",
        "expires": NOW});
    let login = Credential::from_json(&login).unwrap();
    store.upsert(profile("login"), login, at(0)).await.unwrap();
    let path = store.path().to_owned();
    (folder, path)
}

/// A store on a connection that was prepared; it does not wait for locks.
fn start(path: &Path, connection: Connection) -> SqliteAuthStore {
    let timing = Timing {
        wait: BusyWait::None,
        use_delay: Duration::from_hours(1),
        ..fast()
    };
    connect::configure(&connection, FilesystemKind::Local, timing.wait).unwrap();
    let snapshot = SqliteAuthStore::read_snapshot(path.parent().unwrap(), Vec::new()).unwrap();
    let cache = Cache::new(snapshot, Arc::default(), CooldownConfig::default());
    let known = FileState::read(&connection, path, &Arc::default()).unwrap();
    SqliteAuthStore::start(
        path,
        &AgentId::main(),
        Some((connection, known)),
        cache,
        FilesystemKind::Local,
        timing,
    )
    .unwrap()
}

async fn refreshed(folder: &Path, store: &SqliteAuthStore, meanwhile: impl FnOnce() + Send) -> Oauth {
    let endpoint = RotatingEndpoint(Mutex::new(Some(Box::new(meanwhile))));
    let refresher = Refresher::new(folder, endpoint, Host);
    let (config, id) = (AuthConfig::default(), profile("login"));
    let login = refresher.login(store, &config, &id, Demand::Usable).await;
    login.unwrap().unwrap()
}

fn stored_refresh(file: &Connection) -> String {
    let stored: Value = serde_json::from_str(&text(file, STORE)).unwrap();
    stored["profiles"]["login"]["refresh"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The tokens are used, and reach the file with the next change that does.
async fn arrives_with_the_next_write(folder: &Path, store: SqliteAuthStore, login: Oauth) {
    assert_eq!(login.refresh.as_ref().map(Secret::expose), Some("new-refresh"));
    assert_eq!(store.stored_login(&profile("login")), Some(login.clone()));
    let file = outside(folder);
    // What this process reads of the file does not hide them either.
    store.refresh().unwrap();
    assert_eq!(store.stored_login(&profile("login")), Some(login.clone()));
    let mark = failure("a", Reason::Overloaded, Some("m"), 1);
    eventually("room for a mark", || {
        file.execute("DELETE FROM failover_state WHERE key = 'later:filler'", [])
            .is_ok()
    });
    store.commit(mark, at(1)).await.unwrap();
    assert_eq!(stored_refresh(&file), "new-refresh");
    drop(store);
    assert_eq!(open(folder).unwrap().stored_login(&profile("login")), Some(login));
}

#[tokio::test]
async fn o7_rotated_tokens_survive_a_file_that_is_locked_when_they_come() {
    let (folder, path) = with_login().await;
    let connection = open_read_write(&path, BusyWait::None).unwrap();
    let store = start(&path, connection);
    let locker = Mutex::new(outside(folder.path()));
    let lock = || locker.lock().unwrap().execute_batch("BEGIN IMMEDIATE").unwrap();
    let login = refreshed(folder.path(), &store, lock).await;
    let locker = locker.into_inner().unwrap();
    assert_eq!(stored_refresh(&locker), "old-refresh");
    locker.execute_batch("COMMIT").unwrap();
    arrives_with_the_next_write(folder.path(), store, login).await;
}

#[tokio::test]
async fn o7_rotated_tokens_survive_a_disk_that_is_full_when_they_come() {
    let (folder, path) = with_login().await;
    let file = outside(folder.path());
    let filler = format!("\"{}\"", "x".repeat(100_000));
    file.execute(
        "INSERT INTO failover_state VALUES ('later:filler', ?1, 1)",
        [filler],
    )
    .unwrap();
    let connection = open_read_write(&path, BusyWait::None).unwrap();
    let pages: i64 = connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    connection.pragma_update(None, "max_page_count", pages).unwrap();
    let store = start(&path, connection);
    let login = refreshed(folder.path(), &store, || {}).await;
    assert_eq!(stored_refresh(&file), "old-refresh");
    arrives_with_the_next_write(folder.path(), store, login).await;
}

#[tokio::test]
async fn o8_tokens_that_wait_are_not_stored_over_another_login() {
    let (folder, path) = with_login().await;
    let connection = open_read_write(&path, BusyWait::None).unwrap();
    let store = start(&path, connection);
    let locker = Mutex::new(outside(folder.path()));
    let lock = || locker.lock().unwrap().execute_batch("BEGIN IMMEDIATE").unwrap();
    refreshed(folder.path(), &store, lock).await;
    let locker = locker.into_inner().unwrap();
    let sql = "UPDATE auth_profile_store SET store_json = json_set(store_json, '$.profiles.login.refresh', 'person')";
    locker.execute(sql, []).unwrap();
    locker.execute_batch("COMMIT").unwrap();
    let mark = failure("a", Reason::Overloaded, Some("m"), 1);
    store.commit(mark, at(1)).await.unwrap();
    assert_eq!(stored_refresh(&locker), "person");
    let shown = store.stored_login(&profile("login")).unwrap();
    assert_eq!(shown.refresh.as_ref().map(Secret::expose), Some("person"));
}
