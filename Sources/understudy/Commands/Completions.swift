import ArgumentParser
import Proxy
import SyncCore
import TablesProtocol

// What a shell offers for values. Names come from the running Understudy; without one nothing is offered.
extension CompletionKind {
    static var tables: CompletionKind { names(of: TableRoutes.list, \.name) }

    /// The ids of the open operations.
    static var operations: CompletionKind { names(of: QueueRoutes.list, \.id) }

    static var conflicts: CompletionKind { names(of: ConflictRoutes.list, \.id) }

    private static func names<Element: Answers.Part>(
        of route: Route<Page<Element>>,
        _ name: any KeyPath<Element, String> & Sendable
    ) -> CompletionKind {
        .custom { (words: [String], _: Int, prefix: String) async -> [String] in
            guard let options = try? ClientOptions.parse(CompletionPlaces.options(in: words)),
                let list = try? await options.withOperator({ try await $0.answer(route()) })
            else { return [] }
            return list.items.map { $0[keyPath: name] }.filter { $0.hasPrefix(prefix) }
        }
    }
}

/// Which Understudy a command line is about that a shell completes.
enum CompletionPlaces {
    /// The options of a command line that say which Understudy is asked.
    static func options(in words: [String]) -> [String] {
        var found: [String] = []
        for (index, word) in words.enumerated() {
            for option in ["--data", "--config", "--identity"] {
                if word == option, index + 1 < words.count {
                    found += [option, words[index + 1]]
                } else if word.hasPrefix("\(option)=") {
                    found.append(word)
                }
            }
        }
        return found
    }
}
