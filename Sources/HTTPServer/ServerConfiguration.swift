/// What a server needs to know before it starts.
public struct ServerConfiguration: Sendable {
    /// Where to listen.
    public var addresses: [ListenAddress]
    /// Paths of Unix sockets to listen on, each for its owner alone (0600). What a server that ended
    /// badly left there is replaced; a socket that answers is not.
    public var unixSockets: [String]
    /// Listening sockets that are open already (socket activation). The server takes them over and
    /// closes them when it stops.
    public var openSockets: [CInt]
    /// Threads that run the handler; by default one for each core.
    public var workers: Int
    /// The bounds.
    public var limits: Limits

    /// Makes a configuration.
    public init(
        addresses: [ListenAddress], unixSockets: [String] = [], openSockets: [CInt] = [],
        workers: Int = ServerConfiguration.cores, limits: Limits = Limits()
    ) {
        self.addresses = addresses
        self.unixSockets = unixSockets
        self.openSockets = openSockets
        self.workers = max(1, workers)
        self.limits = limits
    }
}
