import { runReplica } from './replica-service.js';

// interleavings-killed.stress.spec.ts runs this in processes of its own, which it kills: the whole service, and
// nothing else.
await runReplica();
