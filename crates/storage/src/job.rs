//! Commands that wait in a store, and their answers. A store that carries out jobs does not know the commands.

use lendpay_domain::PartnerId;
use lendpay_domain::change::Record;
use lendpay_domain::command::{Command, DecideError, Reads, Values};
use lendpay_domain::store::{Answer, StoreError};
use lendpay_domain::view::{View, ViewError};
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

/// The command with its decision. The caller's thread turns it into the outcome.
type Reply<C, T, B> = Answer<(C, <C as Command>::Decided<T, B>)>;

struct Job<C: Command, V: View> {
    command: C,
    decided: Answer<C::Decided<V::Terms, V::Buyer>>,
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
        let (decided, changes) = match self.command.decide(view) {
            Ok(decision) => (Ok(decision.outcome), decision.changes),
            Err(DecideError::View(ViewError::Failed)) => return Err(Failed),
            Err(error) => {
                if let DecideError::Contradiction(why) = error {
                    tracing::error!(why, "a command contradicts what is stored");
                }
                (Err(error.into()), Vec::new())
            }
        };
        self.decided = decided;
        Ok(changes)
    }

    fn fail(&mut self, error: StoreError) {
        self.decided = Err(error);
    }

    fn answer(self: Box<Self>) {
        let Self { command, decided, reply } = *self;
        // The caller may have gone away.
        drop(reply.send(decided.map(|decided| (command, decided))));
    }
}

/// The caller's side of a job.
pub(crate) struct Waiting<C: Command, V: View>(oneshot::Receiver<Reply<C, V::Terms, V::Buyer>>);

/// Makes a job of a command. If it is dropped without an answer, the caller gets the error that it waits with.
pub(crate) fn job<C: Command, V: View + 'static>(command: C) -> (BoxedWork<V>, Waiting<C, V>) {
    let (reply, answer) = oneshot::channel();
    (Box::new(Job { command, decided: Err(StoreError::Unavailable), reply }), Waiting(answer))
}

impl<C: Command, V: View> Waiting<C, V> {
    /// Waits for the answer. `lost` is the error for a job that was dropped without one.
    pub(crate) async fn outcome(
        self,
        lost: StoreError,
        values: &impl Values<V::Terms, V::Buyer>,
    ) -> Answer<C::Outcome> {
        let (command, decided) = self.0.await.unwrap_or(Err(lost))?;
        command.outcome(decided, values)
    }
}
