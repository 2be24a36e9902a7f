import type { MatrixRequest } from '../wire/matrix-request.js';

/** Finds the rooms that aliases name. */
export abstract class Directory {
  /**
   * @param request the request that names the alias
   * @returns the room's ID; undefined when there is no such alias, or it cannot be looked up
   */
  abstract roomOf(alias: string, request: MatrixRequest): Promise<string | undefined>;
}
