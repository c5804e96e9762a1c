import HTTPMessage
import HTTPTypes

/// What every copy of one ``Reply`` shares: when the last copy goes unused, the client still gets an
/// answer.
final class ReplyTicket: Sendable {
    private let pause: ReplyPause

    init(_ pause: ReplyPause) {
        self.pause = pause
    }

    deinit {
        pause.reply(
            RefusalReason.response(
                .internalServerError, sentence: "The request was dropped without an answer."))
    }

    /// The reply that the handler's closure gets.
    static func reply(to pause: ReplyPause) -> Reply {
        let ticket = ReplyTicket(pause)
        return Reply(
            { ticket.pause.reply($0) }, beginsChange: { ticket.pause.beginsChange() },
            changed: { ticket.pause.changed($0) }, isLeft: { ticket.pause.isLeft })
    }
}
