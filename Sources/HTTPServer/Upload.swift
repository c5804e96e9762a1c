import HTTPMessage

/// A request's body on its way to a handler that takes it as it arrives. Not Sendable: it lives on its
/// connection's thread.
final class Upload {
    /// Where the body goes.
    let stream: ByteStream
    /// What the handler's reply waits in.
    let pause: ReplyPause
    /// What holds the connection while the handler is behind.
    let hold: UploadHold
    /// How many more bytes the body may have.
    var leftBytes: Int

    init(stream: ByteStream, pause: ReplyPause, hold: UploadHold, leftBytes: Int) {
        self.stream = stream
        self.pause = pause
        self.hold = hold
        self.leftBytes = leftBytes
    }
}
