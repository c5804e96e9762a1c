// For the simulator alone.
extension SyncEngine {
    /// Forgets the proof and the generation, as after a restart.
    package func forgetProof() {
        isProven = false
        isGenerationKnown = false
    }
}
