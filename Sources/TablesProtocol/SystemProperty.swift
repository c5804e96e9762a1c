/// The properties that a server keeps for each item, besides the id.
public enum SystemProperty: Sendable, Hashable, CaseIterable {
    case createdAt, updatedAt, version, deleted

    /// The name on the wire; nil where the generation does not have the property.
    public func name(in generation: Generation) -> String? {
        switch (generation, self) {
        case (.mobileServices, .createdAt): "__createdAt"
        case (.mobileServices, .updatedAt): "__updatedAt"
        case (.mobileServices, .version): "__version"
        case (.mobileServices, .deleted): "__deleted"
        case (.datasync, .createdAt): nil
        case (.mobileApps, .createdAt): "createdAt"
        case (.mobileApps, .updatedAt), (.datasync, .updatedAt): "updatedAt"
        case (.mobileApps, .version), (.datasync, .version): "version"
        case (.mobileApps, .deleted), (.datasync, .deleted): "deleted"
        }
    }

    /// The property with this name on the wire, whatever its case; nil for a user's column.
    public init?(named name: String, in generation: Generation) {
        let wanted = name.lowercased()
        let found = Self.allCases.first { $0.name(in: generation)?.lowercased() == wanted }
        guard let found else { return nil }
        self = found
    }
}
