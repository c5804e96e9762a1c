/// What the thread is started with.
final class LoopStart: Sendable {
    let multi: MultiHandle
    let mailbox: Mailbox
    let configuration: ClientConfiguration

    init(multi: MultiHandle, mailbox: Mailbox, configuration: ClientConfiguration) {
        self.multi = multi
        self.mailbox = mailbox
        self.configuration = configuration
    }
}
