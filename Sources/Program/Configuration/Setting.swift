package import ArgumentParser
import Platform
package import SyncCore

/// A setting: all that is said of it. The configuration file, the flag with its help, the variable,
/// `config init` and `config show` follow from it, and so does what a reload does.
package struct Setting<Value: Sendable>: Sendable {
    /// The flag without dashes, such as `allow-host`; the variable is `UNDERSTUDY_ALLOW_HOST`.
    package let name: String
    /// The allowed values, as part of a sentence.
    package let allowed: String
    package let about: SettingText
    /// When a changed value counts.
    package let reload: Reloading
    /// What a text that is not allowed must be, with its own reason; nil where ``allowed`` says it all.
    package let refusal: @Sendable (String) -> String?
    /// Parses the text; nil if it is not allowed.
    package let read: @Sendable (String) -> Value?

    package init(
        name: String, allowed: String, about: SettingText, reload: Reloading = .never,
        refusal: @escaping @Sendable (String) -> String? = { _ in nil },
        read: @escaping @Sendable (String) -> Value?
    ) {
        (self.name, self.allowed, self.about, self.read) = (name, allowed, about, read)
        (self.reload, self.refusal) = (reload, refusal)
    }

    package var variable: String { ServeSetting.variable(name) }
}

package struct SettingText: Sendable {
    /// Its purpose in a sentence or two.
    package let summary: String
    /// What a value is called in the help; nil for the name of the setting.
    package let valueName: String?
    /// The default: a value, or words where it is none. `none` stands at the beginning if there is none.
    package let standard: String
    /// An example of a value, for the commented file.
    package let example: String
    /// Whether it may be repeated.
    package let isList: Bool
    /// Whether its value may hold a password, and is not shown.
    package let isSecret: Bool
    /// Whether its value is a path. A relative one in a file begins at the file's folder.
    package var isPath = false

    package init(
        _ summary: String, valueName: String? = nil, standard: String, example: String,
        isList: Bool = false, isSecret: Bool = false
    ) {
        self.summary = summary
        self.valueName = valueName
        self.standard = standard
        self.example = example
        self.isList = isList
        self.isSecret = isSecret
    }

    package var help: ArgumentHelp {
        let standard = standard.hasPrefix("none") ? "" : " (default: \(standard))"
        return ArgumentHelp(
            "\(summary)\(isList ? " Repeat it for more." : "")\(standard)", valueName: valueName)
    }
}

/// When a changed setting counts while the process runs.
package enum Reloading: Sendable {
    /// At the next start.
    case never
    /// At a reload, which makes the part anew that has it: the guard's rules, the log, the keys.
    case replaced
    /// At a reload, in every table that the old or the new value names.
    case policies
    /// At a reload, which changes the settings of the engines so.
    case engines(@Sendable (inout SyncSettings, SyncSettings) -> Void)
}

/// A setting without the type of its value.
package struct ServeSetting: Sendable {
    /// The flag without dashes.
    package let name: String
    /// The allowed values, as part of a sentence.
    package let allowed: String
    package let about: SettingText
    package let reload: Reloading
    /// See ``Setting/refusal``.
    package let refusal: @Sendable (String) -> String?
    package let accepts: @Sendable (String) -> Bool

    package init<Value>(_ setting: Setting<Value>) {
        name = setting.name
        allowed = setting.allowed
        about = setting.about
        reload = setting.reload
        refusal = setting.refusal
        accepts = { setting.read($0) != nil }
    }

    package var variable: String { Self.variable(name) }

    package static func variable(_ name: String) -> String {
        "UNDERSTUDY_" + name.uppercased().split(separator: "-").joined(separator: "_")
    }

    /// Whether a reload applies it.
    package var isReloaded: Bool {
        if case .never = reload { false } else { true }
    }

    package static let notShown = "(not shown)"

    /// A value as messages show it.
    package func shown(_ text: String) -> String {
        // It names the file that has the secret.
        if name == Settings.backendHeader.name, accepts(text) { return text }
        return about.isSecret
            ? Self.withoutSecret(text) : ConfigurationProblem.withoutPassword(text)
    }

    /// What is shown of a secret: of a web address scheme and host, of anything else nothing.
    private static func withoutSecret(_ text: String) -> String {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else {
            return notShown
        }
        let host = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        return host.contains("@") ? notShown : "\(scheme)\(host)/\(notShown)"
    }
}

/// Options that are the flags of settings. The property of a flag has the name of its setting: `allowHost`
/// is `allow-host`.
package protocol SettingOptions: ParsableArguments {}

extension SettingOptions {
    /// The texts of the flags that were given, by the names of their settings.
    package var flags: [String: [String]] {
        var flags: [String: [String]] = [:]
        for (label, value) in Mirror(reflecting: self).children {
            guard let label else { continue }
            // A property wrapper is stored under its property's name with an underscore.
            let name = label.dropFirst().flatMap {
                $0.isUppercase ? "-\($0.lowercased())" : "\($0)"
            }
            switch value {
            case let option as Option<String?>:
                if let text = option.wrappedValue { flags[String(name)] = [text] }
            case let option as Option<[String]>: flags[String(name)] = option.wrappedValue
            case let flag as Flag<Bool?>:
                if let isOn = flag.wrappedValue { flags[String(name)] = [isOn ? "yes" : "no"] }
            case let group as any SettingGroup: flags.merge(group.flags) { $1 }
            default: break
            }
        }
        return flags
    }
}

/// A group of such options among others.
private protocol SettingGroup {
    var flags: [String: [String]] { get }
}

extension OptionGroup: SettingGroup where Value: SettingOptions {
    fileprivate var flags: [String: [String]] { wrappedValue.flags }
}

extension Option where Value == String? {
    package init<Read>(_ setting: Setting<Read>, completion: CompletionKind? = nil) {
        self.init(
            name: .customLong(setting.name), help: setting.about.help, completion: completion)
    }
}

extension Option where Value == [String] {
    /// The flag of a setting that may be repeated.
    package init<Read>(
        wrappedValue: [String], _ setting: Setting<Read>, completion: CompletionKind? = nil
    ) {
        self.init(
            wrappedValue: wrappedValue, name: .customLong(setting.name), help: setting.about.help,
            completion: completion)
    }
}

extension Flag where Value == Bool? {
    /// The flag of a setting that is on or off, with the one that begins with `no-`.
    package init(_ setting: Setting<Bool>) {
        self.init(
            name: .customLong(setting.name), inversion: .prefixedNo, help: setting.about.help)
    }
}
