import { ContextOpener } from '../composition/context-opener.js';
import { ReplicaFence } from '../composition/replica-fence.js';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { parseCommandLine } from '../config/command-line.js';
import type { Settings } from '../config/load-config.js';
import { BACKEND_KINDS, type BackendKinds } from '../engines/backend-kinds.js';
import { Edge } from './edge.js';

/** A service to which contexts can be added. */
export class AddingEdge extends Edge {
  kinds: BackendKinds = BACKEND_KINDS;

  protected override moreContexts(settings: Settings): Partial<ChosenContexts> {
    const { log, kinds } = this;
    const options = parseCommandLine([]);
    return { opener: new ContextOpener({ options, settings, log, kinds, fence: new ReplicaFence() }) };
  }
}
