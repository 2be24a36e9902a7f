export { HEADER, type HeaderId, HeaderLines, type HeaderSet, headerSet } from './parser/header-lines.js';
export {
  MAX_HEAD_BYTES,
  readRequestHead,
  readResponseHead,
  type RequestHead,
  type ResponseHead,
} from './parser/http-head.js';
export { CONNECT_TIMEOUT_MS, ConnectionOpener, type ConnectionOpenerDeps } from './pool/connection-opener.js';
export { type AgentRequest, openFewAtOnce, type WaitOptions } from './pool/open-few-at-once.js';
export * from './pool/upstream-errors.js';
export { BODY_STEP_MS, BodyPace, MIN_STEP_BYTES } from './relay/body-pace.js';
export * from './relay/forwarded-headers.js';
export { IDEMPOTENT_METHODS } from './relay/idempotent-methods.js';
export { Relay, type RelayDeps } from './relay/relay.js';
export * from './relay/relayed-request.js';
export { type ClientPeer, requestHeadText } from './relay/request-head-text.js';
