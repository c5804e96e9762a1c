import ArgumentParser
import Proxy
import SyncCore
import TablesProtocol

// What a shell offers for values. Names come from the running Understudy; without one nothing is offered.
extension CompletionKind {
    static var tables: CompletionKind { names(of: "/tables", \Answers.TableStatus.name) }

    /// The ids of the open operations.
    static var operations: CompletionKind { names(of: "/operations", \OperationSummary.id) }

    static var conflicts: CompletionKind { names(of: "/conflicts", \ConflictDetail.id) }

    private static func names<Element: Answers.Part>(
        of path: String, _ name: any KeyPath<Element, String> & Sendable
    ) -> CompletionKind {
        .custom { (words: [String], _: Int, prefix: String) async -> [String] in
            guard let options = try? ClientOptions.parse(CompletionPlaces.options(in: words)),
                let list: Page<Element> = try? await options.withOperator({
                    try await $0.get(path)
                })
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
