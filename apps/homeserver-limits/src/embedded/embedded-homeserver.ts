import { MatrixError } from '@headgate/matrix-protocol';
import { Homeserver } from '../homeserver/homeserver.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { Handler, Handlers } from './handlers.js';

/** Answers operations from the embedded store. It is no full homeserver: what no area handles does not exist here. */
export class EmbeddedHomeserver extends Homeserver {
  private readonly handlers: ReadonlyMap<string, Handler>;

  constructor(areas: readonly Handlers[]) {
    super();
    this.handlers = new Map(areas.flatMap((area) => Object.entries(area.handlers)));
  }

  handles(operation: string): boolean {
    return this.handlers.has(operation);
  }

  override async answer(request: MatrixRequest, operation: string): Promise<Answer> {
    const handler = this.handlers.get(operation);
    if (!handler) throw MatrixError.unrecognized();
    return handler(request);
  }

  override async answerUnknown(_request: MatrixRequest, methods: () => readonly string[]): Promise<Answer> {
    throw methods().length > 0 ? MatrixError.wrongMethod() : MatrixError.unrecognized();
  }
}
