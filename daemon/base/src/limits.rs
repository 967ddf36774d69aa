//! Every bound of the daemon, with its unit in its name. A number elsewhere that limits something is a mistake.

use std::time::Duration;

// Paths and files.
/// Longest path taken from a reply or a client; Linux's `PATH_MAX`.
pub const PATH_BYTES_MAX: usize = 4096;
/// Longest name in a directory; Linux's `NAME_MAX`.
pub const NAME_BYTES_MAX: usize = 255;
/// Largest file that is read, edited or shown to a model.
pub const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Files one session may hold in its chat, editable and read-only together.
pub const CHAT_FILES_MAX: usize = 1000;

// Replies and edits.
/// Longest reply that is taken from a model; the stream is cut with an error beyond it.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Edit blocks taken from one reply.
pub const BLOCKS_MAX: usize = 2000;
/// Shell blocks taken from one reply.
pub const SHELL_BLOCKS_MAX: usize = 50;
/// Problems listed for one reply.
pub const PROBLEMS_MAX: usize = 100;
/// Lines shown of the closest place in a failed block's message.
pub const CLOSEST_LINES_MAX: usize = 60;
/// Bytes of one failed block that are shown back to the model.
pub const FAILED_BLOCK_BYTES_MAX: usize = 16 * 1024;
/// Lines of an edit block that could be its divider; each is one more way to read the block.
pub const DIVIDERS_MAX: usize = 32;
/// Places of one anchor that are told apart; an anchor with more narrows nothing.
pub const ANCHOR_PLACES_MAX: usize = 200;
/// Lines that the anchors of one reply are compared with; some tens of milliseconds.
pub const ANCHOR_LINES_MAX: usize = 3_000_000;
/// Lines of files that the listings of one reply rewrite, before the next is refused: each is compared with all of its file.
pub const REWRITTEN_LINES_MAX: usize = 400_000;
/// Failed blocks of one reply for which the closest lines are looked up.
pub const CLOSEST_SEARCHES_MAX: usize = 20;
/// Characters shown of one of the closest lines.
pub const CLOSEST_LINE_CHARS_MAX: usize = 300;
/// Message to the model about all failed blocks of a reply; further ones are counted, not shown.
pub const EXPLAIN_BYTES_MAX: usize = 64 * 1024;
/// Files named in it as having blocks that apply.
pub const EXPLAIN_FILES_MAX: usize = 50;
/// Lines that are compared to place the blocks of one reply in one file: about a tenth of a second. Only texts that repeat
/// themselves, searched by very many blocks, need more; the blocks beyond it fail.
pub const LINES_COMPARED_MAX: u64 = 30_000_000;
/// Lines of a file that is edited.
pub const LINES_MAX: usize = 2_000_000;
/// Further requests of one turn that show the model a problem (Aider's figure).
pub const REFLECTIONS_MAX: u32 = 3;
/// Calls whose proposals without a session are kept, newest first.
pub const LOOSE_CALLS_MAX: usize = 64;
/// How long a proposal without a session is kept.
pub const LOOSE_PROPOSAL_AGE: Duration = Duration::from_secs(600);
/// Pending proposals one session may hold; the oldest are superseded beyond it.
pub const SESSION_PROPOSALS_MAX: usize = 500;
/// How long a write record (its blobs before and after, for undo) is kept.
pub const WRITE_RECORD_AGE: Duration = Duration::from_secs(90 * 24 * 3600);

// Provider.
/// Largest answer of a server that does not stream: JSON writes a byte of text in at most six.
pub const ANSWER_BYTES_MAX: usize = 6 * REPLY_BYTES_MAX;
/// First wait before the same request is sent again (Aider's figure); doubled each time.
pub const RETRY_DELAY_FIRST: Duration = Duration::from_millis(125);
/// A wait above this is not slept: the error is reported instead (Aider's figure).
pub const RETRY_DELAY_MAX: Duration = Duration::from_secs(60);
/// Most time one request may spend waiting between tries.
pub const RETRY_TOTAL_MAX: Duration = Duration::from_secs(300);
/// Most jitter that is added to a wait the provider asked for, so that sessions do not come back in step.
pub const RETRY_SPREAD_MAX: Duration = Duration::from_secs(2);
/// Times one request is made anew after its reply broke off.
pub const RESTARTS_MAX: u32 = 3;
/// Time for a connection to the provider to open.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest silence inside a streamed reply; slow local models think for minutes before the first token.
pub const STREAM_SILENCE_MAX: Duration = Duration::from_secs(600);
/// Wait for usage and the end mark after the model has given its stop reason.
pub const STREAM_TAIL_MAX: Duration = Duration::from_secs(10);
/// Wait for the server to end a complete stream in order, so that its connection can be used again.
pub const STREAM_CLOSE_MAX: Duration = Duration::from_millis(50);
/// Redirects followed within one host.
pub const REDIRECTS_MAX: usize = 5;
/// Reply events between the provider's reader and the session.
pub const REPLY_QUEUE_EVENTS: usize = 256;
/// Bytes of one server-sent event.
pub const SSE_EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a provider's error body that are read to find its message.
pub const ERROR_BODY_BYTES_READ_MAX: usize = 64 * 1024;
/// Bytes of a provider's error body that are kept for the message.
pub const ERROR_BODY_BYTES_MAX: usize = 2000;
/// Size of a replay file.
pub const REPLAY_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

// Socket. What both ends of the wire must know (sizes of frames, headers, paths and prompts) stands in the protocol crate.
/// Connections at once.
pub const CONNECTIONS_MAX: usize = 1024;
/// Calls of one connection that may be waiting at once; more are answered `overloaded`.
pub const CALLS_PER_CONNECTION_MAX: usize = 128;
/// Members of one batch.
pub const BATCH_MAX: usize = 100;
/// Replies queued for one connection.
pub const REPLIES_QUEUED_MAX: usize = 256;
/// Notifications queued for one connection, behind its replies.
pub const NOTIFICATIONS_QUEUED_MAX: usize = 256;
/// Bytes gathered for one write to a connection.
pub const WRITE_GATHERED_BYTES: usize = 32 * 1024;
/// Wait after the system refused to accept a connection, mostly for want of descriptors.
pub const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Events queued for one subscription before its client counts as stalled.
pub const EVENTS_QUEUED_MAX: usize = 1024;
/// Subscriptions of one connection.
pub const SUBSCRIPTIONS_PER_CONNECTION_MAX: usize = 64;
/// A client that takes nothing for this long is cut off.
pub const CLIENT_STALL_MAX: Duration = Duration::from_secs(30);
/// Events kept for clients that come back.
pub const EVENT_RING: usize = 4096;

// Sessions.
/// Sessions held at once.
pub const SESSIONS_MAX: usize = 500;
/// Prompts waiting behind a running turn of one session.
pub const PROMPTS_QUEUED_MAX: usize = 32;
/// Messages waiting for a session's owner task.
pub const SESSION_QUEUE: usize = 256;
/// Longest time `session/wait` holds a call.
pub const WAIT_MAX: Duration = Duration::from_millis(60_000);
/// The longest for a turn whose question is open already: its state is known, and the client should answer.
pub const WAIT_WHILE_WAITING: Duration = Duration::from_millis(250);
/// Default of the same.
pub const WAIT_DEFAULT: Duration = Duration::from_millis(1000);
/// Finished turns whose results are kept in memory for `session/wait` and `session/read`.
pub const TURNS_KEPT: usize = 200;
/// Size at which one line of a session log is refused as damaged.
pub const LOG_ENTRY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Write jobs waiting for the write lane.
pub const WRITE_LANE_QUEUE: usize = 64;

// Map.
/// Files of a plain directory that are listed.
pub const LISTED_FILES_MAX: usize = 200_000;
/// Budget of a map when none is asked for, in tokens (Aider's largest).
pub const MAP_TOKENS_DEFAULT: u64 = 4096;

// Lifecycle.
/// How long a new daemon waits for one that is just starting or stopping before it gives way.
/// As long as a stop may take at the most: [`STOP_TIMEOUT`] for turns, half of it for connections, and all of it for the write lane.
pub const CLAIM_WAIT: Duration = Duration::from_secs(25);
/// How often it looks.
pub const CLAIM_LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Time that a stopping daemon gives to the turns that end, and again to the write in progress.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// Log files kept, one a day.
pub const LOG_FILES_KEPT: usize = 7;

// Git.
/// Time one `git` process may take.
pub const GIT_TIMEOUT: Duration = Duration::from_secs(60);
/// Standard output that is kept of one `git` process.
pub const GIT_OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Its error output that is kept for the message.
pub const GIT_STDERR_BYTES_MAX: usize = 4 * 1024;
/// How long a lock of somebody else is waited for.
pub const GIT_LOCK_WAIT: Duration = Duration::from_secs(5);
/// Commits listed by one call.
pub const COMMITS_LISTED_MAX: usize = 500;
/// Bytes of a diff that one call returns.
pub const DIFF_BYTES_MAX: usize = 1024 * 1024;
/// Longest subject of a commit.
pub const SUBJECT_CHARS_MAX: usize = 72;

/// Comparing two texts for people or editors; what takes longer is shown more coarsely.
pub const DIFF_TIME_MAX: Duration = Duration::from_millis(200);
