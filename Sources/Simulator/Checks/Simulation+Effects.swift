import Backend
import SyncCore
import TablesProtocol

/// Checks on the effects at the backend: how often each operation took effect, and in which order.
extension Simulation {
    /// An operation and the number of its proxy.
    struct Made {
        var proxy: Int
        var kind: OperationKind
        var seq: Int64
    }

    /// Every operation of the stores, by id.
    func operations() async throws -> [String: Made] {
        var made: [String: Made] = [:]
        for proxy in proxies {
            for operation in try await proxy.operations(Set(OperationState.allCases)) {
                made[operation.id] = Made(
                    proxy: proxy.number, kind: operation.kind, seq: operation.seq)
            }
        }
        return made
    }

    /// I3 and I4: no operation takes effect twice, and the operations of one item take effect in order.
    func checkEffects(_ effects: [Effect], _ made: [String: Made], _ remote: [Item]) {
        for (id, operation) in made { model.order[id] = operation.seq }
        var kinds: [String: [Effect.Kind]] = [:]
        var last: [String: Int64] = [:]
        for effect in effects {
            guard let key = effect.idempotencyKey else { continue }
            kinds[key, default: []].append(effect.kind)
            // A refused insert that is deleted locally becomes a delete, because an earlier request of it
            // may still arrive.
            let isOnce = kinds[key].map { $0.count == 1 || $0 == [.insert, .delete] } ?? true
            if !isOnce, !model.decided.contains(key), effect.kind != .undelete {
                fault(.once, "\(effect.itemID) took effect twice by one operation", effect.itemID)
            }
            guard let seq = model.order[key], let proxy = made[key]?.proxy else { continue }
            let place = "\(proxy) \(effect.itemID)"
            if let before = last[place], before > seq {
                fault(.order, "\(effect.itemID) was written out of order", effect.itemID)
            }
            last[place] = max(last[place] ?? 0, seq)
        }
        let foreign = remote.map(\.id.text).filter { !model.ids.contains($0) }
        if !foreign.isEmpty { fault(.once, "rows that nobody made: \(foreign)") }
    }

    /// I14: of the operations of one proxy, a parent is inserted before its child, and a child that was
    /// deleted first is deleted before its parent.
    func checkParents(_ effects: [Effect], _ made: [String: Made]) {
        var inserts: [String: (place: Int64, by: Made)] = [:]
        var deletes: [String: (place: Int64, by: Made)] = [:]
        for effect in effects {
            guard let by = effect.idempotencyKey.flatMap({ made[$0] }) else { continue }
            switch effect.kind {
            case .insert:
                if inserts[effect.itemID] == nil { inserts[effect.itemID] = (effect.number, by) }
            case .delete: deletes[effect.itemID] = (effect.number, by)
            case .update, .replace, .undelete: break
            }
        }
        for (child, parent) in model.parents
        where model.unordered.isDisjoint(with: [child, parent]) {
            if let its = inserts[child], let needed = inserts[parent],
                its.by.proxy == needed.by.proxy, its.place < needed.place
            {
                fault(.parents, "\(child) was inserted before \(parent), which it names", child)
            }
            if let its = deletes[child], let needed = deletes[parent],
                its.by.proxy == needed.by.proxy, its.by.seq < needed.by.seq,
                needed.place < its.place
            {
                fault(.parents, "\(parent) was deleted before \(child), which names it", parent)
            }
        }
    }
}
