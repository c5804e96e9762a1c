package import HTTPTypes

/// The conditions of a request on the state of its item.
public struct Conditions: Sendable, Hashable {
    /// The server whose rule dates are compared by. Only third generation servers read dates.
    public enum DateRule: Sendable, Hashable {
        /// Microsoft.AspNetCore.Datasync: a change at exactly that instant counts as before it.
        case datasync
        /// CommunityToolkit.Datasync.Server: a change at exactly that instant counts as after it.
        case toolkit
    }

    /// Whether the conditions hold for an item.
    public enum Verdict: Sendable, Hashable {
        /// They hold: the request continues.
        case holds
        /// The client has the present version: 304 for a read, 412 for a write.
        case known
        /// They do not hold: 412.
        case fails
    }

    /// The versions that the item must have.
    public var ifMatch: IfMatch
    /// The versions that the item must not have.
    public var ifNoneMatch: IfMatch
    /// The time after which the item must not have changed; ignored with `ifMatch`.
    public var unmodifiedSince: Instant?
    /// The time after which the item must have changed; ignored with `ifNoneMatch`.
    public var modifiedSince: Instant?
    /// How the two times are compared.
    public var dateRule: DateRule
    /// The tests of a JSON Patch: members of the item and their required values.
    public var tests: [Columns.Column]

    /// Makes conditions; without arguments there are none.
    public init(
        ifMatch: IfMatch = .absent, ifNoneMatch: IfMatch = .absent,
        unmodifiedSince: Instant? = nil, modifiedSince: Instant? = nil,
        dateRule: DateRule = .datasync, tests: [Columns.Column] = []
    ) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.unmodifiedSince = unmodifiedSince
        self.modifiedSince = modifiedSince
        self.dateRule = dateRule
        self.tests = tests
    }

    public var isEmpty: Bool {
        ifMatch == .absent && ifNoneMatch == .absent && unmodifiedSince == nil
            && modifiedSince == nil && tests.isEmpty
    }

    /// The conditions in the header fields of a third generation request. A date that cannot be parsed is none,
    /// as in HTTP.
    /// - Parameter deletes: whether it is a deletion. With If-Match it has no If-None-Match: the item has the
    ///   version that its client means, so there is nothing that the client could miss.
    package init(datasync fields: HTTPFields, _ dateRule: DateRule, deletes: Bool) {
        let date = { (name: HTTPField.Name) in fields[name].flatMap { Instant(httpDate: $0) } }
        self.init(
            ifMatch: IfMatch.parse(fields[.ifMatch], generation: .datasync),
            ifNoneMatch: IfMatch.parse(fields[.ifNoneMatch], generation: .datasync),
            unmodifiedSince: date(.ifUnmodifiedSince), modifiedSince: date(.ifModifiedSince),
            dateRule: dateRule)
        guard deletes, ifMatch != .absent, ifNoneMatch != .absent else { return }
        (ifNoneMatch, modifiedSince) = (.absent, nil)
    }

    /// Checks the header conditions in the order of the third generation's servers.
    /// - Parameters:
    ///   - versions: the versions under which a client may know the present item.
    ///   - changed: the time of the item's last change.
    public func verdict(versions: [String], changed: Instant) -> Verdict {
        if !versions.contains(where: ifMatch.accepts) { return .fails }
        if ifMatch == .absent, let unmodifiedSince, isAfter(changed, unmodifiedSince) {
            return .fails
        }
        if ifNoneMatch != .absent {
            return versions.contains(where: ifNoneMatch.accepts) ? .known : .holds
        }
        guard let modifiedSince else { return .holds }
        return isAfter(changed, modifiedSince) ? .holds : .known
    }

    private func isAfter(_ change: Instant, _ date: Instant) -> Bool {
        switch dateRule {
        case .datasync: change > date
        case .toolkit: change >= date
        }
    }
}

extension TableCall {
    /// Reads the conditions that servers of the client's generation check.
    ///
    /// 1. First generation: `If-None-Match` of a read, `If-Match` of a write.
    /// 2. Second: none for a read; `If-Match` of a write, else the version in the body.
    /// 3. Third: all four fields for both; for a deletion If-None-Match does not count beside If-Match. Dates are compared as on the server of the client's family; for
    ///    `PATCH`, as on the only server that has it.
    /// - Throws: ``TablesError`` for an If-Match that the servers refuse.
    mutating func readConditions(_ fields: HTTPFields) throws(TablesError) {
        let isRead: Bool
        var body: ItemBody?
        switch verb {
        case .list, .insert: return
        case .get: isRead = true
        case .update(_, let sent), .replace(_, let sent): (isRead, body) = (false, sent)
        case .delete, .undelete: isRead = false
        }
        conditions.tests = body?.tests ?? []
        switch generation {
        case .mobileServices where isRead:
            // Several tags and weak tags are allowed here.
            conditions.ifNoneMatch = IfMatch.parse(fields[.ifNoneMatch], generation: .datasync)
        case .mobileApps where isRead: break
        case .mobileServices, .mobileApps:
            conditions.ifMatch = IfMatch.parse(fields[.ifMatch], generation: generation)
            if case .invalid(let field) = conditions.ifMatch { throw .invalidIfMatch(field) }
            if conditions.ifMatch == .absent, let version = body?.version {
                conditions.ifMatch = .versions([version])
            }
        case .datasync:
            var (isPatch, deletes) = (false, false)
            if case .update = verb { isPatch = true }
            if case .delete = verb { deletes = true }
            let tests = conditions.tests
            conditions = Conditions(
                datasync: fields, client == .toolkit && !isPatch ? .toolkit : .datasync,
                deletes: deletes)
            conditions.tests = tests
        }
    }
}

/// The condition of an `If-Match` or `If-None-Match` field.
public enum IfMatch: Sendable, Hashable {
    /// There is no field, or none that servers of the generation can parse.
    case absent
    /// `*`: any version.
    case any
    /// Any of these versions. The list is empty for a field with weak tags only, which never match.
    case versions([String])
    /// Servers of the generation refuse the field.
    case invalid(String)

    /// Whether the condition holds for a version. An invalid field never holds.
    public func accepts(_ version: String) -> Bool {
        switch self {
        case .absent, .any: true
        case .versions(let versions): versions.contains { $0.hasSameBytes(as: version) }
        case .invalid: false
        }
    }

    /// Parses the field as servers of the generation do. The first refuses weak, unquoted and several tags;
    /// the second refuses several tags; the third accepts any field and ignores invalid and unquoted tags.
    /// Weak tags never match.
    public static func parse(_ field: String?, generation: Generation) -> IfMatch {
        guard let field else { return .absent }
        let text = field.trimmed
        if text == "*" { return .any }
        let list = EntityTagList(text)
        if generation == .datasync {
            if list.hasAny { return .any }
            return list.count == 0 ? .absent : .versions(list.strong)
        }
        guard list.isWhole else { return unquoted(text, field, generation) }
        let strict = generation == .mobileServices && list.count != list.strong.count
        return strict || list.count > 1 ? .invalid(field) : .versions(list.strong)
    }

    private static func unquoted(
        _ text: Substring, _ field: String, _ generation: Generation
    ) -> IfMatch {
        let isPlain = !text.isEmpty && !text.utf8.contains(where: { "\", ".utf8.contains($0) })
        return isPlain && generation != .mobileServices
            ? .versions([String(text)]) : .invalid(field)
    }
}

extension String {
    /// The text without leading and trailing spaces and tabs.
    var trimmed: Substring { self[...].trimmed }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs.
    var trimmed: Substring {
        var text = self
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}

/// One tag in an `If-Match` or `If-None-Match` field.
enum EntityTag {
    case strong(String, rest: Substring)
    case weak(rest: Substring)

    /// Parses the tag at the beginning of a text; nil if there is none.
    static func first(in text: Substring) -> EntityTag? {
        let isWeak = text.hasPrefix("W/")
        var rest = isWeak ? text.dropFirst(2) : text
        guard rest.unicodeScalars.popFirst() == "\"" else { return nil }
        var version = String.UnicodeScalarView()
        while let scalar = rest.unicodeScalars.popFirst() {
            if scalar == "\"" {
                return isWeak ? .weak(rest: rest) : .strong(String(version), rest: rest)
            }
            if scalar == "\\", rest.unicodeScalars.first == "\"" {
                rest.unicodeScalars.removeFirst()
                version.append("\"")
            } else {
                version.append(scalar)
            }
        }
        return nil
    }
}

/// The tags of an `If-Match` or `If-None-Match` field.
struct EntityTagList {
    /// The versions of the strong tags, in order.
    private(set) var strong: [String] = []
    /// The number of tags, including weak ones.
    private(set) var count = 0
    /// Whether one element is `*`.
    private(set) var hasAny = false
    /// Whether the field consists only of tags, separated by commas.
    private(set) var isWhole = true

    /// Parses a field. An element that is not a tag is skipped.
    init(_ field: Substring) {
        var rest = field.trimmed
        repeat {
            let after = take(rest).trimmed
            let end = after.firstIndex(of: ",")
            if end != after.startIndex, !after.isEmpty { isWhole = false }
            guard let end else { return }
            rest = after[after.index(after: end)...].trimmed
        } while true
    }

    /// Parses the element at the beginning of the text.
    /// - Returns: the rest of the text.
    private mutating func take(_ text: Substring) -> Substring {
        if text.first == "*", text.dropFirst().trimmed.first.map({ $0 == "," }) ?? true {
            hasAny = true
            isWhole = false
            return text.dropFirst()
        }
        guard let tag = EntityTag.first(in: text) else {
            isWhole = false
            return text
        }
        switch tag {
        case .strong(let version, let rest):
            guard Self.endsElement(rest) else { return rest }
            strong.append(version)
            count += 1
            return rest
        case .weak(let rest):
            guard Self.endsElement(rest) else { return rest }
            count += 1
            return rest
        }
    }

    private static func endsElement(_ rest: Substring) -> Bool {
        rest.trimmed.first.map { $0 == "," } ?? true
    }
}

/// The form of a version in the `ETag`, `If-Match` and `If-None-Match` fields.
public enum ETag {
    /// The version in quotes, with a backslash before each inner quote.
    public static func quote(_ version: String) -> String {
        guard version.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(version)\"" }
        var text = "\""
        for character in version.unicodeScalars {
            if character == "\"" { text.append("\\") }
            text.unicodeScalars.append(character)
        }
        return text + "\""
    }

    /// The version of a strong quoted tag; nil for a weak or unquoted tag.
    public static func unquote(_ tag: some StringProtocol) -> String? {
        guard case .some(.strong(let version, let rest)) = EntityTag.first(in: Substring(tag)),
            rest.isEmpty
        else { return nil }
        return version
    }
}
