import Foundation
public import TablesProtocol

extension TimeZoneRules {
    /// The rules of a zone by its name in the time zone database, such as `Europe/Paris`; nil for an unknown one.
    public init?(named name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.init(name) { instant in
            zone.secondsFromGMT(
                for: Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000))
        }
    }

    public static var localName: String { TimeZone.current.identifier }
}
