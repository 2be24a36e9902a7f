import { MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, Homeserver, type MatrixRequest } from '@headgate/homeserver-contracts';
import type { Handler, Handlers } from './handlers.js';

/**
 * Handles operations from the embedded database. It is not a full homeserver: anything without a handler does not exist
 * here.
 */
export class EmbeddedHomeserver extends Homeserver {
  private readonly handlers: ReadonlyMap<string, Handler>;

  constructor(areas: readonly Handlers[]) {
    super();
    this.handlers = new Map(areas.flatMap((area) => Object.entries(area.handlers)));
  }

  handles(operation: string): boolean {
    return this.handlers.has(operation);
  }

  override async handle(request: MatrixRequest, operation: string): Promise<MatrixResponse> {
    const handler = this.handlers.get(operation);
    if (!handler) throw MatrixError.unrecognized();
    return handler(request);
  }

  override async handleUnknown(_request: MatrixRequest, methods: () => readonly string[]): Promise<MatrixResponse> {
    throw methods().length > 0 ? MatrixError.wrongMethod() : MatrixError.unrecognized();
  }
}
