import { type MatrixResponse, ok } from '../wire/matrix-response.js';
import type { MatrixRequest } from '../wire/matrix-request.js';

/** The homeserver behind the bounds: an upstream, or the embedded one. */
export abstract class Homeserver {
  abstract handle(request: MatrixRequest, operation: string): Promise<MatrixResponse>;

  /** Handles a request outside the table of operations. @param methods the methods that its path has */
  abstract handleUnknown(request: MatrixRequest, methods: () => readonly string[]): Promise<MatrixResponse>;

  /** Responds to the preflight of a cross-origin request. */
  async preflight(_request: MatrixRequest): Promise<MatrixResponse> {
    return ok();
  }
}
