package import Platform
import TablesProtocol

/// A configuration file: lines of `name = value`, named as the flags without their dashes. A name
/// that may be given several times stands on several lines, any other on one. `#` begins a comment line.
package struct ConfigurationFile: Sendable, Hashable {
    package struct Line: Sendable, Hashable {
        package let number: Int
        package let name: String
        package let value: String
    }

    /// The path; nil if there is no file.
    package let path: String?
    /// Its settings in their order.
    package let lines: [Line]

    package static let none = ConfigurationFile(path: nil, lines: [])

    /// The file, the number and the name of a line, for messages.
    package func place(_ line: Line) -> String { "\(path ?? ""):\(line.number) \(line.name)" }

    private init(path: String?, lines: [Line]) {
        self.path = path
        self.lines = lines
    }

    /// Parses the text of a file.
    /// - Throws: all problems of the file, wrong values among them, where a line cannot be understood. A wrong
    ///   value alone is no problem of the file: a flag or a variable may win over it.
    package init(
        path: String, text: String, for kind: ConfigurationKind
    ) throws(ConfigurationProblems) {
        self.path = path
        let folder = Settings.absolute(path).split(separator: "/").dropLast()
            .reduce("") { "\($0)/\($1)" }
        var lines: [Line] = []
        var problems: [ConfigurationProblem] = []
        var isUnderstood = true
        // Some editors begin a file with a byte order mark. A line may end in CR LF, which is one character.
        let texts = text.drop { $0 == "\u{FEFF}" }.split(omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n"
        }
        for (index, text) in texts.enumerated() {
            let bare = text.trimming(Self.isBlank)
            if bare.isEmpty || bare.first == "#" { continue }
            let parts = bare.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimming(Self.isBlank)
            guard parts.count == 2, let setting = kind.settings.first(where: { $0.name == name })
            else {
                // A URL under a misspelt name may have a password in it.
                let isSecret = bare.contains("://") && kind.settings.contains { $0.about.isSecret }
                problems.append(
                    ConfigurationProblem(
                        place: "\(path):\(index + 1)",
                        value: isSecret ? ServeSetting.notShown : String(bare),
                        allowed: Settings.removed[String(name)].map {
                            "left out: this setting is gone, because \($0)"
                        } ?? "a line such as \"listen = 127.0.0.1:8080\" with "
                            + Self.known(name, kind)))
                isUnderstood = false
                continue
            }
            var value = String(parts[1].trimming(Self.isBlank))
            if setting.about.isPath, !value.isEmpty { value = Settings.absolute(value, in: folder) }
            let line = Line(number: index + 1, name: setting.name, value: value)
            if !setting.about.isList, let first = lines.first(where: { $0.name == line.name }) {
                let values = [line, first].map { setting.shown($0.value) }
                problems.append(
                    ConfigurationProblem(
                        place: "\(path):\(line.number) \(line.name)", value: values[0],
                        allowed: "said once, and line \(first.number) says \"\(values[1])\""))
                isUnderstood = false
                continue
            }
            if !setting.accepts(line.value) {
                problems.append(
                    ConfigurationProblem(
                        place: "\(path):\(line.number) \(line.name)",
                        value: setting.shown(line.value),
                        allowed: setting.refusal(line.value) ?? setting.allowed))
            }
            lines.append(line)
        }
        if !isUnderstood { throw ConfigurationProblems(all: problems) }
        self.lines = lines
    }

    /// The names that a line may have: the nearest to one that is misspelt, otherwise all.
    private static func known(_ name: Substring, _ kind: ConfigurationKind) -> String {
        let names = kind.settings.map(\.name)
        if let near = NearestName.of(String(name), in: names), near != name {
            return "a known name; perhaps \(near) is meant"
        }
        return "one of the names \(names.joined(separator: ", "))"
    }

    private static func isBlank(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }

    /// The variable that names the file.
    package static let variable = "UNDERSTUDY_CONFIG"

    /// Reads the file that `--config` or `UNDERSTUDY_CONFIG` names; throws if it is not there. Otherwise
    /// the file at ``standardPath(_:for:)``, if it is there.
    package static func load(
        flag: String?, environment: (String) -> String?, for kind: ConfigurationKind
    ) throws(StartProblem) -> ConfigurationFile {
        let named = flag ?? environment(variable).flatMap { $0.isEmpty ? nil : $0 }
        guard let path = named ?? standardPath(environment, for: kind) else { return .none }
        do {
            guard let file = try InputFile(path) else {
                if named == nil { return .none }
                throw StartProblem(
                    "There is no configuration file \(path). Write one with: \(kind.program) config "
                        + "init --config '\(path)'"
                )
            }
            if let fault = fault(file.status, user: ThisProcess.user, path: path) {
                throw StartProblem(fault)
            }
            guard let bytes = try file.bytes(atMost: Limits.configurationBytes) else {
                throw StartProblem(
                    "\(path) has more than \(Limits.configurationBytes >> 20) MiB, so it is no "
                        + "configuration file.")
            }
            return try ConfigurationFile(
                path: path, text: String(decoding: bytes, as: UTF8.self), for: kind)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    /// Why a configuration file cannot be trusted; nil if it can. It decides which server gets the rows and
    /// tokens of clients, so only this user and root may be able to write it.
    package static func fault(_ status: Files.Status, user: UInt32, path: String) -> String? {
        status.changeFault(
            "The configuration file \(path)", path: path, naming: "with --config", user: user)
    }

    /// The default path by the XDG rules; nil without a home folder.
    package static func standardPath(
        _ environment: (String) -> String?, for kind: ConfigurationKind
    ) -> String? {
        if let base = environment("XDG_CONFIG_HOME"), base.hasPrefix("/") {
            return "\(base)/understudy/\(kind.fileName)"
        }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/.config/understudy/\(kind.fileName)"
    }
}

/// What the configuration file of a program is.
package struct ConfigurationKind: Sendable {
    package let program: String
    /// The name of the file at its standard path.
    package let fileName: String
    /// The settings of such a file, in the order of the commented one.
    package let settings: [ServeSetting]
    /// Throws what a start with these settings would refuse.
    package let check: @Sendable (Sources) throws(StartProblem) -> Void

    package init(
        program: String, fileName: String, settings: [ServeSetting],
        check: @escaping @Sendable (Sources) throws(StartProblem) -> Void
    ) {
        self.program = program
        self.fileName = fileName
        self.settings = settings
        self.check = check
    }
}

// Which files with settings and secrets are trusted.
extension Files.Status {
    /// Why a file that decides who gets rows and tokens cannot be trusted; nil if it can. Only `user` and root
    /// may be able to change it.
    /// - Parameters:
    ///   - subject: the file with its path, as the beginning of a sentence.
    ///   - naming: how a copy of it is named, as the end of a sentence, such as `with --config`.
    package func changeFault(
        _ subject: String, path: String, naming: String, user: UInt32
    ) -> String? {
        if owner != user && owner != 0 {
            return
                "\(subject) belongs to another user. Read it, then name a copy of your own "
                + "\(naming)."
        }
        if permissions & 0o022 != 0 {
            return
                "\(subject) can be changed by other users. Read it, then close it with: "
                + "chmod go-w '\(path)'"
        }
        return nil
    }

    /// Why a file that this user or root owns cannot hold a secret; nil if it can. Other users may not read it,
    /// but for the group of a file of root's: that is how a service with a user of its own gets a secret.
    package func secretFault(path: String) -> String? {
        let others: UInt32 = owner == 0 ? 0o007 : 0o077
        if permissions & others == 0 { return nil }
        return
            "\(path) is a secret that other users can read. Close it with: "
            + "chmod \(owner == 0 ? "o=" : "go=") '\(path)'. Where they may have read it, make a new one."
    }
}
