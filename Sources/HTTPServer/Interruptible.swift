/// Something that may hold a connection suspended and lets go of it when the server stops.
protocol Interruptible: AnyObject, Sendable {
    /// Resumes the connection if it is suspended and never suspends it again.
    func interrupt()
}
