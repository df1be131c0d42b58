//! Commands that wait in a store, and their answers. A store that carries out jobs does not know the commands.

use lendpay_domain::PartnerId;
use lendpay_domain::change::Record;
use lendpay_domain::command::{Command, DecideError, Reads, Values};
use lendpay_domain::offer::Terms;
use lendpay_domain::store::{Answer, StoreError};
use lendpay_domain::view::{Known, View, ViewError};
use tokio::sync::oneshot;

/// A command whose type is hidden, and where its answer goes.
pub(crate) trait Work<V: View>: Send {
    /// The partner that gives the command.
    fn partner(&self) -> Option<PartnerId>;

    /// Adds the keys that deciding may look at.
    fn reads(&self, reads: &mut Reads);

    /// Decides the command and gives the changes to keep. A command that cannot be decided has none, and is answered
    /// with its error. Deciding again replaces the decision.
    ///
    /// # Errors
    /// The view has failed.
    fn decide(&mut self, view: &V) -> Result<Vec<Record>, Failed>;

    /// Replaces the decision by an error.
    fn fail(&mut self, error: StoreError);

    /// Tells the caller what was decided.
    fn answer(self: Box<Self>);
}

/// The view has failed; nothing can be decided.
#[derive(Debug)]
pub(crate) struct Failed;

/// A boxed job.
pub(crate) type BoxedWork<V> = Box<dyn Work<V>>;

/// What was decided about a command.
enum Decided<D> {
    Outcome(D),
    Error(StoreError),
    /// The terms that the command looks at are not those that were read before.
    Unread,
}

/// The command with its decision. The caller's thread turns it into the outcome.
type Reply<C, T, B> = (C, Decided<<C as Command>::Decided<T, B>>);

struct Job<C: Command, V: View> {
    command: C,
    /// The terms that the command looks at, with how the view referred to them when they were read.
    read: Option<(V::Terms, Terms)>,
    decided: Decided<C::Decided<V::Terms, V::Buyer>>,
    reply: oneshot::Sender<Reply<C, V::Terms, V::Buyer>>,
}

impl<C: Command, V: View> Work<V> for Job<C, V> {
    fn partner(&self) -> Option<PartnerId> {
        self.command.partner()
    }

    fn reads(&self, reads: &mut Reads) {
        self.command.reads(reads);
    }

    fn decide(&mut self, view: &V) -> Result<Vec<Record>, Failed> {
        let (decided, changes) = match self.command.decide(&Known { view, terms: self.read.as_ref() }) {
            Ok(decision) => (Decided::Outcome(decision.outcome), decision.changes),
            Err(DecideError::View(ViewError::Failed)) => return Err(Failed),
            Err(DecideError::Unread) => (Decided::Unread, Vec::new()),
            Err(error) => {
                if let DecideError::Contradiction(why) = error {
                    tracing::error!(why, "a command contradicts what is stored");
                }
                (Decided::Error(error.into()), Vec::new())
            }
        };
        self.decided = decided;
        Ok(changes)
    }

    fn fail(&mut self, error: StoreError) {
        self.decided = Decided::Error(error);
    }

    fn answer(self: Box<Self>) {
        let Self { command, decided, reply, read: _ } = *self;
        // The caller may have gone away.
        drop(reply.send((command, decided)));
    }
}

/// The caller's side of a job.
pub(crate) struct Waiting<C: Command, V: View>(oneshot::Receiver<Reply<C, V::Terms, V::Buyer>>);

/// Makes a job of a command. If it is dropped without an answer, the caller gets the error that it waits with. `read`
/// are the terms of [`Command::terms`], if the view does not hold them.
pub(crate) fn job<C: Command, V: View + 'static>(
    command: C,
    read: Option<(V::Terms, Terms)>,
) -> (BoxedWork<V>, Waiting<C, V>) {
    let (reply, answer) = oneshot::channel();
    let decided = Decided::Error(StoreError::Unavailable);
    (Box::new(Job { command, read, decided, reply }), Waiting(answer))
}

/// What became of a command.
pub(crate) enum Done<C: Command> {
    Answer(Answer<C::Outcome>),
    /// Nothing, since the terms that it looks at were replaced after they were read. It is to be given again.
    Again(C),
}

impl<C: Command, V: View> Waiting<C, V> {
    /// Waits for the answer. `lost` is the error for a job that was dropped without one.
    pub(crate) async fn done(self, lost: StoreError, values: &impl Values<V::Terms, V::Buyer>) -> Done<C> {
        match self.0.await {
            Ok((command, Decided::Outcome(decided))) => Done::Answer(command.outcome(decided, values)),
            Ok((_, Decided::Error(error))) => Done::Answer(Err(error)),
            Ok((command, Decided::Unread)) => Done::Again(command),
            Err(_dropped) => Done::Answer(Err(lost)),
        }
    }
}
