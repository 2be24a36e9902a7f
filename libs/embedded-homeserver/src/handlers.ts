import type { MatrixResponse, MatrixRequest } from '@headgate/homeserver-contracts';

export type Handler = (request: MatrixRequest) => MatrixResponse | Promise<MatrixResponse>;

/** One area's operations and how they are answered. */
export abstract class Handlers {
  abstract readonly handlers: Readonly<Record<string, Handler>>;
}
