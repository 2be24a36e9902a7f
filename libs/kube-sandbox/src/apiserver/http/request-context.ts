import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UserInfo } from '../admission.js';
import type { Disruption } from '../faults/disruption.js';
import type { RequestInfo } from '../requests/request-info.js';

/** One request and its state. */
export interface RequestContext {
  request: IncomingMessage;
  response: ServerResponse;
  info: RequestInfo;
  user: UserInfo;
  /** Texts for `Warning: 299` headers of the response. */
  warnings: string[];
  /** What the injected faults do to it; undefined before they were applied. */
  disruption?: Disruption;
}
