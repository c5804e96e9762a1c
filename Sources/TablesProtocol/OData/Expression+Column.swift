extension Expression {
    /// A column as a query names it.
    public enum Column: Sendable, Hashable {
        /// The id.
        case id
        /// A property that the server keeps, whatever the generation calls it.
        case system(SystemProperty)
        /// A column of the application; more than one name is a path into a nested object.
        case user(path: [String])

        /// The column that a path of names means in a generation's queries.
        ///
        /// Names of the id and of system properties match in any case, since the databases behind
        /// the real servers compare column names so.
        public init(path: [String], in generation: Generation) {
            let reserved = path.count == 1 ? Self.reserved[generation] : nil
            self = reserved?[path[0].lowercased()] ?? .user(path: path)
        }

        /// The columns that are no user's, by their names in lower case.
        private static let reserved: [Generation: [String: Column]] = {
            var reserved: [Generation: [String: Column]] = [:]
            for generation in Generation.allCases {
                reserved[generation] = ["id": .id]
                for property in SystemProperty.allCases {
                    guard let name = property.name(in: generation) else { continue }
                    reserved[generation]?[name.lowercased()] = .system(property)
                }
            }
            return reserved
        }()

        /// The column's name on the wire; nil where the generation does not have the property.
        public func name(in generation: Generation) -> String? {
            switch self {
            case .id: "id"
            case .system(let property): property.name(in: generation)
            case .user(let path): path.joined(separator: "/")
            }
        }
    }
}
