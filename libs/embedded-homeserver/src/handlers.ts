import type { MatrixResponse, MatrixRequest } from '@headgate/homeserver-contracts';

export type Handler = (request: MatrixRequest) => MatrixResponse | Promise<MatrixResponse>;

/** The handlers of one area's operations. */
export abstract class Handlers {
  abstract readonly handlers: Readonly<Record<string, Handler>>;
}
