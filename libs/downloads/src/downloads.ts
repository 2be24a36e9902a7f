import type { HttpClient } from './http-get.js';
import type { SpaceGuard } from './limits.js';
import type { PartialDownloads } from './partial-downloads.js';

/** The policy, the space and the interrupted files that all downloads into one folder share. */
export interface Downloads {
  readonly http: HttpClient;
  /** The space for downloads. */
  readonly space: SpaceGuard;
  /** Downloads that were interrupted. */
  readonly partials: PartialDownloads;
}
