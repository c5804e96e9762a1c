import Glibc
import Proxy

/// The browser of the person at this machine.
enum Browser {
    /// Whether there is a display to show it on.
    static var hasDisplay: Bool {
        ThisProcess.environment("DISPLAY") != nil
            || ThisProcess.environment("WAYLAND_DISPLAY") != nil
    }

    /// Opens a file with the desktop's own opener; false when there is none. The path is an argument
    /// of a process, which every user of the machine can read: no secret may be in it.
    static func open(_ file: String) -> Bool {
        let folder = ThisProcess.folder ?? ""
        let path = file.hasPrefix("/") ? file : "\(folder)/\(file)"
        var process = pid_t()
        // The copies of the two strings live until after the call, which copies them for the child.
        let program = unsafe strdup("xdg-open")
        let argument = unsafe strdup(path)
        defer {
            unsafe free(program)
            unsafe free(argument)
        }
        var arguments = unsafe [program, argument, nil]
        return unsafe posix_spawnp(&process, "xdg-open", nil, nil, &arguments, environ) == 0
    }

    /// Signs the browser in by a page that leads to a one-time link; false when it cannot be done.
    static func open(_ page: SignInPage?) -> Bool {
        guard let page else { return false }
        do {
            try page.write()
        } catch {
            return false
        }
        return open(page.file)
    }
}
