//! Killed at any moment, the next start finds the tree wholly before or wholly after, and says the same as before.

use std::time::{Duration, Instant};

use paird_protocol::methods::{EditList, QuestionList};
use paird_protocol::{EditListParams, EditStatus, Outcome, QuestionListParams, TurnState};
use paird_tests::{Client, DaemonProcess, Launch, Scratch, Tree, block, line};
use serde_json::json;

const FILES: usize = 20;
/// The file that a person saves between the crash and the next start.
const PERSONS: &str = "f07.txt";
const PERSONS_TEXT: &str = "saved by a person\n";
/// Moments of a turn at which it is killed at random.
const MOMENTS: usize = 50;

fn name(n: usize) -> String {
    format!("f{n:02}.txt")
}

/// A repository of twenty files and the model whose reply edits them all.
struct Bench {
    scratch: Scratch,
    before: Tree,
    after: Tree,
    model: String,
    head: String,
}

impl Bench {
    fn new() -> Self {
        let files: Vec<(String, String)> = (0..FILES).map(|n| (name(n), format!("{n}\nold\n"))).collect();
        let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let scratch = Scratch::repo(&listed);
        let reply: String = (0..FILES).map(|n| block(&name(n), "old", "new")).collect();
        let model = scratch.replay(&[line(&reply)]);
        let before = scratch.tree();
        let after = (0..FILES).fold(before.clone(), |tree, n| tree.with(&name(n), &format!("{n}\nnew\n")));
        let head = scratch.head();
        Self { scratch, before, after, model, head }
    }

    /// Asks for the turn; gives its session. The daemon may be dead before it can answer.
    async fn begin(&self, client: &Client) -> String {
        let names: Vec<String> = (0..FILES).map(name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let session = client.session(&self.model, &names).await;
        let _ = client.connection().request("session/prompt", json!({"sessionId": session, "text": "make them new"})).await;
        session
    }

    /// Starts the daemon again and checks all that must hold; gives whether the edits are in the tree.
    async fn check(&self, daemon: &mut DaemonProcess, session: &str, saved: bool, what: &str) -> bool {
        if saved {
            self.scratch.write(PERSONS, PERSONS_TEXT);
        }
        *daemon = Launch::new(&self.scratch).start().await;
        let client = daemon.client().await;
        let turns = client.read(session).await.turns;
        assert_eq!(turns.len(), 1, "{what}: a prompt is in the log before anything is done for it");
        let result = client.finished(&turns[0].turn_id).await.report;
        let now = self.scratch.tree();
        let with_save = |tree: &Tree| if saved { tree.clone().with(PERSONS, PERSONS_TEXT) } else { tree.clone() };
        let is_after = now == with_save(&self.after);
        assert!(is_after || now == with_save(&self.before), "{what}: neither before nor after: {:#?}", now.0);

        let git = &self.scratch;
        git.git(&["fsck", "--strict", "--no-dangling"]);
        assert!(!git.path(".git/index.lock").exists(), "{what}: git is locked");
        let staged = git.git(&["diff", "--cached", "--name-only"]);
        assert_eq!(staged, "", "{what}: the index is HEAD's");
        let changed = git.git(&["diff", "--name-only"]);
        let committed = git.head() != self.head;
        if committed {
            assert!(is_after, "{what}: a commit of what is not there");
            assert_eq!(git.git(&["rev-parse", "HEAD~1"]).trim(), self.head, "{what}: one commit");
            assert_eq!(result.commits.len(), 1, "{what}: {result:?}");
            assert_eq!(result.commits[0].hash, git.head(), "{what}");
        }
        let person = if saved { format!("{PERSONS}\n") } else { String::new() };
        assert_eq!(changed, person, "{what}: the tree is HEAD's but for what the person saved");
        assert_eq!(committed, is_after, "{what}");

        let edits = client.call::<EditList>(EditListParams { session_id: Some(session.to_owned()), status: None }).await.edits;
        let read = client.read(session).await;
        assert_eq!(read.edits, edits, "{what}");
        assert_eq!(result.edits, edits, "{what}");
        assert!(client.call::<QuestionList>(QuestionListParams::default()).await.questions.is_empty(), "{what}");
        assert!(read.turns.iter().all(|turn| turn.state == TurnState::Finished), "{what}");
        let applied = edits.iter().filter(|edit| edit.status == EditStatus::Applied).count();
        match (is_after, result.outcome) {
            (true, Outcome::Done) => assert_eq!(applied, FILES, "{what}"),
            // The person's file is left alone, its edit waits.
            (true, Outcome::Held) => {
                assert!(saved, "{what}");
                let held: Vec<&str> =
                    edits.iter().filter(|edit| edit.status == EditStatus::Proposed).map(|edit| edit.path.as_str()).collect();
                assert_eq!((held.as_slice(), applied), ([PERSONS].as_slice(), FILES - 1), "{what}");
            }
            // The reply was complete: its edits wait for a person, but for the one whose file is another now.
            (false, Outcome::Held) => {
                assert_eq!((applied, edits.len() + result.failed.len()), (0, FILES), "{what}");
                assert_eq!(result.failed.len(), usize::from(saved), "{what}");
            }
            (false, Outcome::Failed) => assert!(edits.is_empty() && result.error.is_some(), "{what}"),
            odd => panic!("{what}: {odd:?} {result:?}"),
        }
        // The start after that finds nothing to do and says the same.
        let questions = |client: Client| async move { client.call::<QuestionList>(QuestionListParams::default()).await.questions };
        daemon.kill9().await;
        daemon.restart().await;
        let client = daemon.client().await;
        let again = client.read(session).await;
        assert_eq!((again.turns, again.edits), (read.turns, read.edits), "{what}");
        assert!(questions(client).await.is_empty(), "{what}");
        assert_eq!(self.scratch.tree(), now, "{what}");
        is_after
    }
}

/// The places that an undisturbed turn passes: of the write, of the commit, of the session's log.
fn points() -> Vec<String> {
    let write = paird_edit::FAULT_POINTS
        .iter()
        .filter(|point| !matches!(**point, "write.returning" | "write.returned" | "write.rolling" | "write.rolled"));
    let commit = paird_vcs::FAULT_POINTS.iter().filter(|point| !point.starts_with("undo."));
    let once = write.chain(commit).chain(["commit.noted", "owner.landing"].iter());
    let mut points: Vec<String> = once.map(|point| (*point).to_owned()).collect();
    // Those that are passed once a file, in the middle and at the end.
    for point in ["write.part", "write.temp", "write.ready", "write.exchanged", "write.checked"] {
        points.push(format!("{point}:{}", FILES / 2));
        points.push(format!("{point}:{FILES}"));
    }
    points
}

/// Every new content is written aside before the first file is replaced.
fn is_prepared_first(point: &str) -> bool {
    matches!(point, "write.part" | "write.temp")
}

async fn killed_at_each_point(saved: bool) {
    for point in points() {
        let bench = Bench::new();
        let mut daemon = Launch::new(&bench.scratch).env("PAIRD_FAULT_POINT", &point).start().await;
        let client = daemon.client().await;
        let session = bench.begin(&client).await;
        daemon.killed_itself().await;
        let is_after = bench.check(&mut daemon, &session, saved, &point).await;
        let is_intended = point != "write.record";
        // The person's file comes eighth: saved before the write had come to it, the write is taken back.
        let is_reached =
            ["write.intent", "write.directories", "write.part", "write.temp", "write.ready", "write.exchanged", "write.checked"]
                .iter()
                .all(|early| point != *early && !(point.starts_with(&format!("{early}:")) && is_prepared_first(early)));
        assert_eq!(is_after, is_intended && (is_reached || !saved), "{point}: rolled forward from the intent on");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_each_step_of_a_write_and_a_commit() {
    killed_at_each_point(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_each_step_and_a_person_saves_before_the_next_start() {
    killed_at_each_point(true).await;
}

/// A small generator, so that a failure can be played again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_random_moments() {
    let seed = match std::env::var("PAIRD_TEST_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => u64::from(std::process::id()),
    };
    let mut random = Random(seed);
    // How long a turn takes here, from its start to its end.
    let bench = Bench::new();
    let daemon = DaemonProcess::start(&bench.scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    bench.begin(&client).await;
    events.wait_kind("turn.started").await;
    let start = Instant::now();
    events.wait_kind("turn.finished").await;
    let whole = u64::try_from(start.elapsed().as_micros()).unwrap();
    drop(daemon);
    // Most of a turn is waiting for the disk; what comes before the first byte is short, and wants moments of its own.
    let spans = [whole * 5 / 4, (whole / 10).max(1), (whole / 50).max(1)];
    let mut afters = 0;
    for moment in 0..MOMENTS {
        let bench = Bench::new();
        let mut daemon = DaemonProcess::start(&bench.scratch).await;
        let client = daemon.client().await;
        let mut events = client.events().await;
        let session = bench.begin(&client).await;
        events.wait_kind("turn.started").await;
        let (start, delay) = (Instant::now(), Duration::from_micros(random.below(spans[moment % spans.len()])));
        while start.elapsed() < delay {
            std::hint::spin_loop();
        }
        daemon.kill9().await;
        let saved = random.below(2) == 1;
        let what = format!("PAIRD_TEST_SEED={seed}, moment {moment} of {MOMENTS}, {delay:?} after the start, saved: {saved}");
        afters += usize::from(bench.check(&mut daemon, &session, saved, &what).await);
    }
    println!("PAIRD_TEST_SEED={seed}: {afters} of {MOMENTS} moments came to the edits, a turn takes {whole} us");
}
