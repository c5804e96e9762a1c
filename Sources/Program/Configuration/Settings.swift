package import ArgumentParser
package import HTTPServer
package import Logging
package import Platform
package import SyncCore
import TablesProtocol

/// The settings. Each program adds those of its own.
package enum Settings {
    package static let data = path(
        "data", allowed: "the path of a folder",
        about: SettingText(
            "The folder for everything that is kept.", valueName: "folder",
            standard: "understudy in $XDG_DATA_HOME or ~/.local/share",
            example: "/home/me/.local/share/understudy")
    ) { DataFolder(path: $0) }

    package static let backendGeneration = Setting<BackendConfiguration.GenerationChoice>(
        name: "backend-generation", allowed: "auto, 1, 2 or 3",
        about: SettingText(
            "The backend's generation: 1, 2, 3, or auto to ask it.", valueName: "generation",
            standard: "auto", example: "auto")
    ) { text in
        text == "auto"
            ? .auto : Int(text).flatMap(Generation.init(rawValue:)).map { .fixed($0) }
    }

    package static let pageSize = wholeNumber(
        "page-size", in: 1...SyncLimits.pullPageRows,
        about: SettingText(
            "Rows that a pull asks for in one page, 1 to \(SyncLimits.pullPageRows); the backend may "
                + "give fewer.", valueName: "rows",
            standard: "\(SyncLimits.pullPageRows)", example: "100"),
        reload: .engines { $0.pageRows = $1.pageRows })

    package static let logLevel = Setting<Logger.Level>(
        name: "log-level",
        allowed: "one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))",
        about: SettingText(
            "The least that the log says, from trace to critical; debug: each request.",
            valueName: "level", standard: "notice", example: "notice"), reload: .replaced
    ) { Logger.Level(rawValue: $0) }

    package static let logFormat = Setting<LogFormat>(
        name: "log-format", allowed: "auto, text or json",
        about: SettingText(
            "How the log is written: text for a person, json, or auto: text on a terminal.",
            valueName: "format", standard: "auto", example: "auto"), reload: .replaced
    ) { LogFormat(rawValue: $0) }
}

// How another backend is reached.
extension Settings {
    package static let backendCA = path(
        "backend-ca",
        about: SettingText(
            "The authorities to trust for the backend, a PEM file.", valueName: "file",
            standard: "the system's", example: "/etc/understudy/authorities.pem"))
    package static let backendCertificate = path(
        "backend-cert",
        about: SettingText(
            "The certificate to show the backend, a PEM file.", valueName: "file",
            standard: "none", example: "/etc/understudy/client.pem"))
    package static let backendKey = path(
        "backend-key",
        about: SettingText(
            "The key to backend-cert, a PEM file.", valueName: "file",
            standard: "none", example: "/etc/understudy/client-key.pem"))

    package static let backendProxy = Setting<String>(
        name: "backend-proxy",
        allowed:
            "the address of a proxy, such as http://10.0.0.1:3128 or http://user:password@10.0.0.1:3128 "
            + "(in a password, write / as %2F, ? as %3F, # as %23)",
        about: SettingText(
            "The proxy on the way to the backend.", valueName: "url",
            standard: "none", example: "http://10.0.0.1:3128")
    ) { isProxy($0) ? $0 : nil }

    package static let backendHeader = Setting<BackendHeader>(
        name: "backend-header", allowed: BackendHeader.allowed,
        about: SettingText(
            "A header field of each request to the backend, such as a gateway's key, and the file with its value.",
            valueName: "name=@file", standard: "none",
            example: "Ocp-Apim-Subscription-Key=@/etc/understudy/subscription.key", isList: true,
            isSecret: true)
    ) { BackendHeader($0) }

    package static let allowPlainHTTP = yesOrNo(
        "allow-plain-http",
        about: SettingText(
            "Whether rows and tokens may travel in the clear to a backend on another machine.",
            standard: "no", example: "no"))

    /// Whether a text is the address of a proxy. Before an `@` there is no slash, question mark, hash or
    /// quotation mark: at these ``ConfigurationProblem/withoutPassword(_:)`` takes the password to be over.
    private static func isProxy(_ text: String) -> Bool {
        ["http://", "https://", "socks5h://"].contains { scheme in
            let rest = text.dropFirst(scheme.count)
            let user = rest.lastIndex(of: "@").map { rest[..<$0] } ?? ""
            return text.hasPrefix(scheme) && !rest.isEmpty
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                && !user.contains { "/?#\"'".contains($0) }
        }
    }
}

extension Settings {
    /// The settings of earlier versions that are gone, each with the reason as part of a sentence.
    package static let removed = [
        "notify-command": "notify names a webhook, which is told in its place",
        "notify-events": "notify is told whenever a person is needed",
        "notify-values": "messages have counts by table, and no value of a row",
        "remember-sign-in": "each client sends its token with its requests",
    ]
}

// The kinds of values that several settings have. Each function makes a setting of its kind.
extension Settings {
    package static func yesOrNo(
        _ name: String, about: SettingText, reload: Reloading = .never
    ) -> Setting<Bool> {
        Setting<Bool>(name: name, allowed: BooleanText.allowed, about: about, reload: reload) {
            BooleanText.value($0)
        }
    }

    package static func path(
        _ name: String, allowed: String = "the path of a file", about: SettingText,
        reload: Reloading = .never
    ) -> Setting<String> {
        path(name, allowed: allowed, about: about, reload: reload) { $0 }
    }

    /// A setting with a path. A relative one begins at the current folder, or at that of the file that has it.
    /// - Parameter make: gets the absolute path.
    package static func path<Value>(
        _ name: String, allowed: String, about: SettingText, reload: Reloading = .never,
        _ make: @escaping @Sendable (String) -> Value
    ) -> Setting<Value> {
        var about = about
        about.isPath = true
        return Setting(name: name, allowed: allowed, about: about, reload: reload) {
            $0.isEmpty ? nil : make(absolute($0))
        }
    }

    package static func wholeNumber(
        _ name: String, in bounds: ClosedRange<Int>, about: SettingText,
        reload: Reloading = .never
    ) -> Setting<Int> {
        Setting<Int>(
            name: name,
            allowed: "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
            about: about, reload: reload
        ) { text in
            Int(text).flatMap { bounds.contains($0) ? $0 : nil }
        }
    }

    /// A setting with a time such as `12h` or `30d`, in seconds.
    package static func time(
        _ name: String, hours: ClosedRange<Int64>, about: SettingText,
        reload: Reloading = .never
    ) -> Setting<Int64> {
        Setting<Int64>(
            name: name,
            allowed: "hours or days from \(hours.lowerBound)h to \(hours.upperBound / 24)d, "
                + "such as 12h or 30d",
            about: about, reload: reload
        ) { text in
            let units: [Character: Int64] = ["h": 1, "d": 24]
            guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
                // Before the multiplication, which a large number would overflow.
                (0...hours.upperBound).contains(number), hours.contains(number * unit)
            else { return nil }
            return number * unit * 3600
        }
    }

    /// A setting with a size such as `500M` or `4G`, in bytes.
    package static func bytes(
        _ name: String, from least: Int, about: SettingText, reload: Reloading = .never
    ) -> Setting<Int> {
        Setting<Int>(
            name: name, allowed: "a size from \(least >> 20)M up, such as 500M or 4G",
            about: about, reload: reload
        ) { text in
            let units: [Character: Int] = ["M": 1 << 20, "G": 1 << 30]
            guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
                (1...1_000_000).contains(number), number * unit >= least
            else { return nil }
            return number * unit
        }
    }
}

// Addresses and paths in settings.
extension Settings {
    package static func loopback(_ text: String) -> ListenAddress? {
        guard let address = try? ListenAddress(text) else { return nil }
        return address.isLoopback ? address : nil
    }

    /// A path; a relative one begins at a folder, by default at the current one.
    package static func absolute(
        _ path: String, in folder: String? = ThisProcess.folder
    ) -> String {
        guard !path.hasPrefix("/"), let folder else { return path }
        return folder == "/" ? "/\(path)" : "\(folder)/\(path)"
    }
}

extension ListenAddress {
    package var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }
}

package enum LogFormat: String, Sendable, Hashable, CaseIterable {
    /// Text on a terminal, otherwise JSON.
    case auto
    /// Lines of text.
    case text
    /// One JSON object on each line.
    case json
}

package struct LogOptions: SettingOptions {
    @Option(Settings.logLevel) package var logLevel: String?
    @Option(Settings.logFormat, completion: .words(of: LogFormat.self))
    package var logFormat: String?

    package init() {}
}
