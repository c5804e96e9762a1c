/// Which clients may call `/tables` at its plain address.
package enum TablesAccess: String, Sendable, Hashable, CaseIterable {
    /// Every program of this machine.
    case open
    /// No program: only capability addresses, the Unix socket and callers that are signed in as the
    /// operator.
    case capability
}

extension TablesAccess {
    /// What to say at the start, when other people of this machine could read the rows; nil when
    /// there is nothing to say.
    /// - Parameter loginUsers: how many people can log in to this machine.
    func warning(loginUsers: Int) -> String? {
        guard self == .open, loginUsers > 1 else { return nil }
        return "\(loginUsers) people can log in to this machine, and each can read and write "
            + "/tables here. Give every client an address of its own with `understudy access "
            + "add NAME` and start with --tables-access capability."
    }
}
