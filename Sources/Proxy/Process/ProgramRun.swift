import Glibc

/// A run of another program, without a shell: its standard input is given, its output is discarded.
///
/// `unsafe`: the C strings live until posix_spawn has returned, which copies them for the child. The two
/// structs of posix_spawn are made and destroyed in one function. `read`, `write`, `pipe` and `waitpid` use
/// only what they are given, which lives until the call returns.
struct ProgramRun {
    enum End: Sendable, Hashable {
        /// With this exit code.
        case ended(Int32)
        /// By this signal.
        case killed(Int32)
        /// It ran for too long, and was ended.
        case tookTooLong
        /// The task was cancelled, and it was ended.
        case cancelled
        /// It could not be started; the code is an `errno`.
        case notStarted(Int32)
    }

    let path: String
    let environment: [(name: String, value: String)]
    /// Seconds until it and the programs that it has started are ended.
    let seconds: Int64

    /// Runs it to its end.
    /// - Parameter input: what it can read. A program need not read all of it.
    func run(_ input: [UInt8]) async -> End {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return .notStarted(errno) }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        // This process keeps the end for reading too, until it has written: without any reader a write would be
        // a signal, which ends the process.
        defer { close(reading) }
        var process = pid_t()
        let code = spawn(&process, input: reading)
        guard code == 0 else {
            close(writing)
            return .notStarted(code)
        }
        return await wait(for: process, writing: writing, input[...])
    }

    /// Starts the program in a process group of its own.
    /// - Returns: 0, or an `errno`.
    private func spawn(_ process: inout pid_t, input: CInt) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        for output in [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
        }
        // All are closed on exec; a library may have opened one that is not.
        for name in Files.names(in: "/proc/self/fd") {
            guard let open = CInt(name), open > STDERR_FILENO else { continue }
            unsafe posix_spawn_file_actions_addclose(&actions, open)
        }
        // A thread of this process may block signals, and the child would inherit that.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments = unsafe [strdup(path), nil]
        var variables = unsafe environment.map { unsafe strdup("\($0.name)=\($0.value)") } + [nil]
        defer {
            unsafe (arguments + variables).forEach { unsafe free($0) }
        }
        return unsafe posix_spawn(
            &process, path, &actions, &attributes, &arguments, &variables)
    }

    /// Writes the input as the program reads it, and waits for its end.
    private func wait(
        for process: pid_t, writing: CInt, _ input: ArraySlice<UInt8>
    ) async -> End {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var rest = input
        var isOpen = true
        defer { if isOpen { close(writing) } }
        while true {
            if isOpen {
                rest = Self.write(rest, to: writing)
                if rest.isEmpty {
                    close(writing)
                    isOpen = false
                }
            }
            var status: Int32 = 0
            let ended = unsafe waitpid(process, &status, WNOHANG)
            if ended < 0 { return .notStarted(errno) }
            if ended != 0 {
                // What it has started and left behind is ended with it.
                kill(-process, SIGKILL)
                let signal = status & 0x7F
                return signal == 0 ? .ended(status >> 8 & 0xFF) : .killed(signal)
            }
            if Task.isCancelled || ContinuousClock.now >= deadline {
                kill(-process, SIGKILL)
                // The signal cannot be refused, so this returns at once.
                _ = unsafe waitpid(process, &status, 0)
                return Task.isCancelled ? .cancelled : .tookTooLong
            }
            try? await Task.sleep(for: .milliseconds(Limits.commandPollMilliseconds))
        }
    }

    /// Writes what the pipe has room for.
    /// - Returns: the rest.
    private static func write(_ bytes: ArraySlice<UInt8>, to pipe: CInt) -> ArraySlice<UInt8> {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBufferPointer { bytes in
                unsafe Glibc.write(pipe, bytes.baseAddress, bytes.count)
            }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return rest
    }
}

extension ProgramRun.End: CustomStringConvertible {
    var description: String {
        switch self {
        case .ended(let code): "The command ended with \(code)."
        case .killed(let signal): "The command was ended by signal \(signal)."
        case .tookTooLong:
            "The command ran for more than \(Limits.notificationCommandSeconds) s, and was ended."
        case .cancelled: "The command was ended, since Understudy stops."
        case .notStarted(let code):
            "The command could not be started: \(FileFailure("start it", code: code).reason)."
        }
    }
}
