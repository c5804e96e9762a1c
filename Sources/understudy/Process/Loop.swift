import ServiceLifecycle

/// A service that runs until it is told to stop, and is then cancelled.
struct LoopService: Service {
    private let body: @Sendable () async -> Void

    /// Makes a service of a function that returns soon after its task is cancelled.
    init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Runs it.
    func run() async {
        await cancelWhenGracefulShutdown { await body() }
    }
}

/// A service that does nothing but to close something when it is told to stop.
struct ShutdownService: Service {
    private let body: @Sendable () async -> Void

    /// Makes a service of what is to be done at the end.
    init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Waits for the end, then does it.
    func run() async {
        try? await gracefulShutdown()
        await body()
    }
}
