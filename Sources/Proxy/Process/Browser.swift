import Glibc

/// The browser of the person at this machine.
enum Browser {
    /// Whether there is a display to show it on.
    static var hasDisplay: Bool {
        ThisProcess.environment("DISPLAY") != nil
            || ThisProcess.environment("WAYLAND_DISPLAY") != nil
    }

    /// Opens `url` with the desktop's own opener; false when there is none.
    static func open(_ url: String) -> Bool {
        var process = pid_t()
        // The copies of the two strings live until after the call, which copies them for the child.
        let program = unsafe strdup("xdg-open")
        let argument = unsafe strdup(url)
        defer {
            unsafe free(program)
            unsafe free(argument)
        }
        var arguments = unsafe [program, argument, nil]
        return unsafe posix_spawnp(&process, "xdg-open", nil, nil, &arguments, environ) == 0
    }
}
