import SyncCore
package import TablesProtocol

/// The answers of the operator API. The server makes them, the commands read them, and openapi.json describes
/// them by their members: the comment of a member is its description there. Members are sent in the order of
/// their declaration; one without a value is null, never absent.
package enum Answers {
    /// What an element of a list is.
    package typealias Part = Codable & Sendable & Hashable
}

extension Answers {
    /// A page of a list.
    package struct Page<Element: Part>: Codable, Sendable, Hashable {
        package let items: [Element]
        /// Cursor for `after`; null at the end.
        package let next: String?
        /// All elements that match, not only this page's.
        package let total: Int

        /// A list without a further page.
        package init(_ items: [Element]) {
            self.init(items: items, next: nil, total: items.count)
        }

        /// A page from its parts.
        package init(items: [Element], next: String?, total: Int) {
            self.items = items
            self.next = next
            self.total = total
        }

        init<Stored>(_ page: SyncCore.Page<Stored>, _ element: (Stored) -> Element) {
            self.init(items: page.items.map(element), next: page.next, total: page.total)
        }
    }

    /// A row, or the columns of one: an object with any members.
    package struct Item: Codable, Sendable, Hashable {
        /// The object.
        package let json: JSONValue

        init(_ json: JSONValue) { self.json = json }

        /// A stored row; nil for none.
        init?(_ text: JSONText?) {
            guard let text else { return nil }
            json = text.value
        }

        package init(from decoder: any Decoder) throws {
            json = try decoder.singleValueContainer().decode(JSONValue.self)
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(json)
        }
    }

    /// The answer to a request after which there is nothing to say: an object without members.
    package struct Nothing: Codable, Sendable, Hashable {
        /// Makes it.
        package init() {}
    }

    /// Who did something.
    package enum Actor: String, Codable, Sendable, Hashable, CaseIterable {
        case client, person, engine

        init(_ actor: SyncCore.Actor) {
            switch actor {
            case .client, .namedClient: self = .client
            case .person: self = .person
            case .engine: self = .engine
            }
        }
    }
}

// The words of the modules below that are words of answers.
extension BackendState: Codable {}
extension ConflictPolicy: Codable {}
extension HistoryKind: Codable {}
extension IDKind: Codable {}
extension ItemState: Codable {}
extension OperationKind: Codable {}
extension OperationState: Codable {}
extension Paging: Codable {}
extension ReadPolicy: Codable {}
extension TablePause: Codable {}
extension RunKind: Codable {}
extension SyncCore.Run.Progress.Phase: Codable {}
extension RunState: Codable {}
extension SyncCore.Sample.FailureCause: Codable {}
extension SyncCore.Sample.Reach: Codable {}
extension StoreUsageKind: Codable {}
extension Trigger: Codable {}
extension UndoEffect: Codable {}
extension WritePolicy: Codable {}
