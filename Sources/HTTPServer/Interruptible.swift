/// Something that may hold a connection suspended and lets go of it when the server stops.
protocol Interruptible: AnyObject, Sendable {
    /// Resumes the connection if it is suspended and never suspends it again; not where it waits for a
    /// change that the handler makes.
    func interrupt()
    /// The same, whatever it waits for.
    func giveUp()
}

extension Interruptible {
    func giveUp() { interrupt() }
}
