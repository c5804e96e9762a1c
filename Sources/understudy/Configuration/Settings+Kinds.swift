import Proxy

// The kinds of values that several settings have. Each function makes a setting of its kind.
extension Settings {
    /// A setting that is on or off.
    static func yesOrNo(_ name: String, about: SettingText) -> Setting<Bool> {
        Setting<Bool>(name: name, allowed: BooleanText.allowed, about: about) {
            BooleanText.value($0)
        }
    }

    /// A setting with a path; a relative one begins at the current folder.
    static func path(
        _ name: String, allowed: String = "the path of a file", about: SettingText
    ) -> Setting<String> {
        Setting<String>(name: name, allowed: allowed, about: about) {
            $0.isEmpty ? nil : absolute($0)
        }
    }

    /// A setting with a whole number within bounds.
    static func wholeNumber(
        _ name: String, in bounds: ClosedRange<Int>, about: SettingText
    ) -> Setting<Int> {
        Setting<Int>(
            name: name,
            allowed: "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
            about: about
        ) { text in
            Int(text).flatMap { bounds.contains($0) ? $0 : nil }
        }
    }

    /// A setting with a time such as `12h` or `30d`, in seconds.
    static func time(
        _ name: String, hours: ClosedRange<Int64>, about: SettingText
    ) -> Setting<Int64> {
        Setting<Int64>(
            name: name,
            allowed: "hours or days from \(hours.lowerBound)h to \(hours.upperBound / 24)d, "
                + "such as 12h or 30d",
            about: about
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
    static func bytes(_ name: String, from least: Int, about: SettingText) -> Setting<Int> {
        Setting<Int>(
            name: name, allowed: "a size from \(least >> 20)M up, such as 500M or 4G", about: about
        ) { text in
            let units: [Character: Int] = ["M": 1 << 20, "G": 1 << 30]
            guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
                (1...1_000_000).contains(number), number * unit >= least
            else { return nil }
            return number * unit
        }
    }
}
