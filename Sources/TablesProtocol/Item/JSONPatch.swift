/// A JSON Patch (RFC 6902) of one item: changes and tests of its members, one level deep. Datasync clients
/// send it for an update.
public struct JSONPatch: Sendable, Hashable {
    /// The kind of an operation.
    public enum Action: String, Sendable, Hashable {
        case add, replace, remove, test
    }

    /// One operation.
    public struct Operation: Sendable, Hashable {
        /// The kind.
        public var action: Action
        /// The member's name, without escapes.
        public var name: String
        /// The value as received; null for a removal.
        public var value: JSONText
    }

    /// The operations in their order.
    public let operations: [Operation]

    /// Parses a patch. As on the servers, names of members and operations are read in any case, and the
    /// path may lack its first slash.
    /// - Throws: ``TablesError`` with a sentence that names the invalid operation by its index from 0.
    public init(parsing bytes: [UInt8]) throws(TablesError) {
        do throws(JSONError) { _ = try JSONText(validating: bytes) } catch {
            throw .malformedJSON(error)
        }
        guard let elements = JSONCutter.elements(ofArray: bytes[...]) else {
            throw .badRequest("A JSON Patch is a list of operations.")
        }
        guard elements.count <= Limits.patchOperations else {
            throw .badRequest(
                "A JSON Patch has at most \(Limits.patchOperations) operations.")
        }
        var operations: [Operation] = []
        for (place, element) in elements.enumerated() {
            do throws(Refusal) { operations.append(try Self.operation(element)) } catch {
                throw .badRequest("Operation \(place) of the JSON Patch: \(error.sentence)")
            }
        }
        self.operations = operations
    }

    private struct Refusal: Error {
        let sentence: String
    }

    private static func operation(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> Operation {
        guard let columns = try? Columns(parsing: Array(bytes)) else {
            throw Refusal(sentence: "it is no object, or has a member twice.")
        }
        let members = columns.all
        func member(_ name: String) -> JSONText? {
            members.first { $0.name.lowercased() == name }?.value
        }
        guard let word = member("op")?.string, let path = member("path")?.string else {
            throw Refusal(sentence: "'op' and 'path' must be strings.")
        }
        guard let action = Action(rawValue: word.lowercased()) else {
            throw Refusal(sentence: "'\(word)' is not one of add, replace, remove and test.")
        }
        let name = try name(path)
        if action == .remove { return Operation(action: action, name: name, value: .null) }
        guard let value = member("value") else { throw Refusal(sentence: "it has no value.") }
        return Operation(action: action, name: name, value: value)
    }

    /// The name in a JSON Pointer (RFC 6901) of one level.
    private static func name(_ path: String) throws(Refusal) -> String {
        var rest = path.unicodeScalars[...]
        if rest.first == "/" { rest.removeFirst() }
        guard !rest.isEmpty, !rest.contains("/") else {
            throw Refusal(sentence: "the path '\(path)' does not name a member of the item.")
        }
        var name = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            guard scalar == "~" else {
                name.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "0": name.append("~")
            case "1": name.append("/")
            default: throw Refusal(sentence: "the path '\(path)' has a '~' without 0 or 1.")
            }
        }
        return String(name)
    }
}
